import Foundation
import Tandem

/// Sends the requests of a pull. It has no state of the pull, so that it can send one while a page is being stored.
struct PageRequester: Sendable {
    let context: SyncContext
    let coder: ItemCoder

    /// Requests a page.
    func page(_ request: PageRequest) async throws -> RemotePage {
        let options = context.options
        return try await retrying { () async throws(RemoteFailure) -> RemotePage in
            let before = options.clock.now()
            let page = try await context.remote.page(request)
            context.pause.record(backoff: page.backoff, at: options.clock.now())
            if let date = page.serverDate {
                context.serverClock.record(date, between: before, and: options.clock.now())
            }
            return page
        }
    }

    /// Looks up an item.
    func item(_ id: ServerID) async throws -> RemoteItem? {
        try await context.waitOutPause(for: coder)
        return try await retrying { () async throws(RemoteFailure) -> RemoteItem? in
            try await context.remote.find(coder.table, key: .id(id))
        }
    }

    /// Sends a request. Retries by ``RetryPolicy`` while the server is busy.
    private func retrying<T>(_ send: () async throws(RemoteFailure) -> T) async throws -> T {
        let options = context.options
        var tries = 0
        while true {
            do throws(RemoteFailure) {
                return try await send()
            } catch {
                let thrown = context.thrown(for: error, coder: coder)
                tries += 1
                guard case .later(_, let asked) = error, tries < options.retry.tries else { throw thrown }
                // Wait for a server's `Retry-After` only if it is short.
                if let asked, asked > .zero {
                    try await context.waitOutPause(for: coder)
                } else {
                    try await options.clock.sleep(for: options.retry.delay(after: tries, random: options.random()))
                }
            }
        }
    }

    /// Requests a page ahead, while another one is being stored. An error counts when the page is needed.
    ///
    /// - Parameter request: The request; `nil` if the next page is not to be requested ahead.
    /// - Returns: `nil` without a request.
    func ahead(_ request: PageRequest?) async -> PageAhead? {
        guard let request else { return nil }
        do {
            try Task.checkCancellation()
            try await context.waitOutPause(for: coder)
            let page = try await page(request)
            return PageAhead(page: .success(page), time: context.options.clock.now())
        } catch {
            return PageAhead(page: .failure(error), time: context.options.clock.now())
        }
    }
}

/// The response to a request that was sent while another page was being stored.
struct PageAhead: Sendable {
    let page: Result<RemotePage, any Error>
    /// The local time of its arrival.
    let time: Date
}
