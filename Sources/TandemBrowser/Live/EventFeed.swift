import NIOCore
import PageServer

/// Writes the events of a stream.
enum EventFeed {
    /// The content of an event.
    private struct Change: Encodable {
        /// The number of the newest commit.
        let revision: Int
    }

    /// Writes an event for each new number until the browser, the store or the server ends the stream. A repeated
    /// number becomes a comment.
    ///
    /// - Parameters:
    ///   - id: The ID of the stream.
    ///   - numbers: The numbers of the stream.
    ///   - revisions: The list of streams.
    ///   - channel: The connection, which is closed if the browser does not read.
    ///   - limits: The times.
    ///   - write: Writes text, and waits until the browser has read enough.
    static func run(
        _ id: Int, numbers: AsyncStream<Int>, of revisions: StoreRevisions, on channel: any Channel,
        limits: BrowserLimits, write: (String) async throws -> Void
    ) async throws {
        let watch = ReadingWatch(channel, limit: limits.readingTime)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await watch.run() }
            group.addTask {
                while (try? await Task.sleep(for: limits.heartbeat)) != nil { revisions.beat(id) }
            }
            defer { group.cancelAll() }
            var sent: Int?
            for await number in numbers {
                let text =
                    number == sent ? EventText.comment : try EventText.event("change", data: Change(revision: number))
                try await watch.timing { try await write(text) }
                sent = number
                // Commits that follow at once become one event.
                try await Task.sleep(for: limits.pause)
            }
        }
    }
}
