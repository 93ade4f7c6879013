import Foundation
import Tandem

/// Deletes files on the server that no object names any more.
struct UnwantedFilesRun: Sendable {
    private let context: SyncContext
    private let store: Store
    private let files: any RemoteFiles
    private let isExplicit: Bool

    init(_ context: SyncContext, _ store: Store, _ files: any RemoteFiles, isExplicit: Bool) {
        self.context = context
        self.store = store
        self.files = files
        self.isExplicit = isExplicit
    }

    /// One after the other: nobody waits for it.
    ///
    /// - Returns: What it adds to the push: why it stopped before its end, as the server can't be reached or wants to be
    ///   left alone; and when the next one is due that was put off.
    func run() async throws -> PushResult {
        let stop = try await deleteAll()
        let now = context.options.clock.now()
        // What is due already is a matter of what has stopped this.
        let next = try await store.read { try $0.unwantedFiles() }.compactMap(\.retryAt).filter { $0 > now }.min()
        return PushResult(entries: [], stoppedBy: stop, nextDue: next)
    }

    private func deleteAll() async throws -> SyncError? {
        for file in try await store.read({ try $0.unwantedFiles() }) {
            try Task.checkCancellation()
            if let error = context.pauseError(for: nil) { return error }
            guard try await isDue(file) else { continue }
            // An object may name it again by now.
            guard try await isUnwanted(file) else { continue }
            do throws(RemoteFailure) {
                try await files.delete(RemoteFile(url: file.url, etag: file.etag))
                try? await forget(file)
            } catch {
                switch error {
                // It is gone, or another one by now, which is not ours to delete.
                case .notFound, .gone, .file(.changed): try? await forget(file)
                case .notSent, .lost, .unauthenticated:
                    if error.isCancellation, Task.isCancelled { throw CancellationError() }
                    return SyncError(error, table: nil, url: file.url)
                case .later(_, let delay):
                    let delay = delay.flatMap { $0 > .zero ? $0 : nil }
                    let end = ServerPause.end(of: delay ?? .seconds(60), at: context.options.clock.now())
                    if delay != nil { context.pause.note(until: end, at: context.options.clock.now()) }
                    try await putOff(file, until: end)
                case .conflict, .refused, .badAnswer, .unsendable, .file:
                    let delay = min(86_400, 3600 * Double(1 << min(file.attempts, 10)))
                    try await putOff(file, until: context.options.clock.now() + delay)
                }
            }
        }
        return nil
    }

    /// Whether a file may be deleted now. What failed is tried again at once where somebody asks for the push; what may be
    /// on its way is waited for whoever asks.
    private func isDue(_ file: UnwantedFile) async throws -> Bool {
        let now = context.options.clock.now()
        guard file.isArriving else { return isExplicit || (file.retryAt ?? now) <= now }
        let latest = now + context.options.arrival
        guard let date = file.retryAt else {
            let url = file.url
            try await store.lasting { try $0.awaitUnwanted(url, until: latest) }
            return false
        }
        // Nothing is waited for longer: the clock was set back.
        return date <= now || date > latest
    }

    private func isUnwanted(_ file: UnwantedFile) async throws -> Bool {
        let url = file.url
        return try await store.read { try !$0.unwantedFiles(only: url).isEmpty }
    }

    private func forget(_ file: UnwantedFile) async throws {
        let url = file.url
        try await store.lasting { try $0.forgetUnwanted(url) }
    }

    private func putOff(_ file: UnwantedFile, until date: Date) async throws {
        let url = file.url
        try await store.lasting { try $0.putOffUnwanted(url, until: date) }
    }
}
