import Foundation
import Tandem

/// A run that deletes files on the server that no object names any longer.
struct RemoteFileDeletionRun: Sendable {
    private let context: SyncContext
    private let store: Store
    private let files: any RemoteFiles
    private let isExplicit: Bool

    init(_ context: SyncContext, store: Store, files: any RemoteFiles, isExplicit: Bool) {
        self.context = context
        self.store = store
        self.files = files
        self.isExplicit = isExplicit
    }

    /// Deletes the files one after the other, because no caller waits for it.
    ///
    /// - Returns: The addition to the push's result. It has the error that stopped the run, if the server can't be
    ///   reached or asked for a delay. It also has the time of the next deferred delete.
    func run() async throws -> SyncResult {
        let stop = try await deleteAll()
        let now = context.options.clock.now()
        // A file that is already due waits for the problem that stopped this run.
        let next = try await store.read { try $0.unwantedFiles() }.compactMap(\.retryAt).filter { $0 > now }.min()
        return SyncResult(stoppedBy: stop, nextDue: next)
    }

    private func deleteAll() async throws -> SyncError? {
        for file in try await store.read({ try $0.unwantedFiles() }) {
            try Task.checkCancellation()
            if let error = context.pauseError(for: nil) { return error }
            guard isDue(file) else { continue }
            // An object may name it again by now.
            guard try await isUnwanted(file) else { continue }
            do throws(RemoteFailure) {
                try await files.delete(RemoteFile(url: file.url, etag: file.etag))
                try? await forget(file)
            } catch {
                switch error {
                // The file was deleted or replaced. This client must not delete a replacement.
                case .notFound, .gone, .file(.changed): try? await forget(file)
                case .notSent, .lost, .unauthenticated:
                    if error.isCancellation, Task.isCancelled { throw CancellationError() }
                    return SyncError(error, table: nil, url: file.url)
                case .later(_, let delay):
                    let delay = delay.flatMap { $0 > .zero ? $0 : nil }
                    let end = ServerBackoff.end(of: delay ?? .seconds(60), at: context.options.clock.now())
                    if delay != nil { context.pause.record(until: end, at: context.options.clock.now()) }
                    try await postpone(file, until: end)
                case .conflict, .refused, .invalidResponse, .notEncodable, .outdatedPosition, .file:
                    let delay = min(86_400, 3600 * Double(1 << min(file.attempts, 10)))
                    try await postpone(file, until: context.options.clock.now() + delay)
                }
            }
        }
        return nil
    }

    /// Returns whether a file may be deleted now. An explicit push retries a failed delete at once.
    private func isDue(_ file: UnwantedFile) -> Bool {
        guard !isExplicit, let date = file.retryAt else { return true }
        return date <= context.options.clock.now()
    }

    private func isUnwanted(_ file: UnwantedFile) async throws -> Bool {
        let url = file.url
        return try await store.read { try !$0.unwantedFiles(only: url).isEmpty }
    }

    private func forget(_ file: UnwantedFile) async throws {
        let url = file.url
        try await store.lasting { try $0.forgetUnwanted(url) }
    }

    private func postpone(_ file: UnwantedFile, until date: Date) async throws {
        let url = file.url
        try await store.lasting { try $0.postponeUnwanted(url, until: date) }
    }
}
