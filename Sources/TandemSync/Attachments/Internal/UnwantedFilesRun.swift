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
    /// - Returns: Why it stopped before its end: the server can't be reached, or wants to be left alone.
    func run() async throws -> SyncError? {
        let now = context.options.clock.now()
        let unwanted = try await store.read { [isExplicit] in
            try $0.unwantedFiles(at: isExplicit ? .distantFuture : now)
        }
        for file in unwanted {
            try Task.checkCancellation()
            if let error = context.pauseError(for: nil) { return error }
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

    private func isUnwanted(_ file: UnwantedFile) async throws -> Bool {
        let url = file.url
        return try await store.read { try !$0.unwantedFiles(at: .distantFuture, only: url).isEmpty }
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
