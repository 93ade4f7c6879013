import Foundation
import Synchronization
import Tandem

/// The file uploads of a push: after the objects, a few at a time. Changes made meanwhile are sent before the remaining
/// files, and in parallel to the running ones.
///
/// The run holds the uploads' lock. Pulls and pushes continue beside it. It acquires the objects' lock for each of its
/// own pushes.
///
/// Each file goes through the same steps. A transaction records the start of the upload, and another one records the
/// future URL. Then follows the exchange with the server. The last transaction saves the URL and queues the update with
/// it. After a crash in between, the file is uploaded again, and the server reports that it has the file. If the file
/// is no longer needed, it is deleted there.
final class UploadRun: Sendable {
    struct Upload: Sendable {
        let file: PendingFile
        var outcome: FileUpload.Outcome?
        var sent: Int64 = 0
    }

    struct State {
        var uploads: [Upload] = []
        var next = 0
        var stop: PushState.Stop?
        /// The number of consecutive files without a response.
        var filesWithoutResponse = 0
        /// The operations with URLs.
        var operations: [PendingOperation.ID] = []
        /// The marks of the operations that wait for the end.
        var marks: Set<OperationMarks.Mark> = []
        /// The marks of the queue when it was last sent.
        var tried: OperationMarks
        /// The results of the pushes during the uploads.
        var pushes: [SyncResult] = []
    }

    let context: SyncContext
    let store: Store
    private let files: any RemoteFiles
    let isExplicit: Bool
    let state: Mutex<State>

    var options: SyncContext.Options { context.options }

    /// - Parameter tried: The marks of the queue before the objects were sent.
    init(
        _ context: SyncContext, store: Store, files: any RemoteFiles, isExplicit: Bool, tried: OperationMarks
    ) {
        state = Mutex(State(tried: tried))
        self.context = context
        self.store = store
        self.files = files
        self.isExplicit = isExplicit
    }

    /// Uploads the due files. ``State/stop`` has the error that stopped the run.
    func run() async throws {
        let now = options.clock.now()
        let pending = try await store.read { try $0.pendingFiles(at: .distantFuture) }
        guard !pending.isEmpty else { return }
        state.withLock { state in
            let due = pending.map { ($0, waits(for: $0, at: now)) }
            // Waiting files come last, and do not count as done.
            state.uploads = due.filter { $0.1 == nil }.map { Upload(file: $0.0) }
            state.uploads += due.compactMap { file, date in
                date.map { Upload(file: file, outcome: .waiting(until: $0)) }
            }
        }
        reportProgress()
        await interleavePushes()
        context.statusTracker.setUploads(nil, sent: [:])
    }

    private func interleavePushes() async {
        var turns = UploadInterleaving(limit: min(max(options.uploadsInFlight, 1), 16))
        let (events, inbox) = AsyncStream<UploadInterleaving.Event>.makeStream()
        var happened = events.makeAsyncIterator()
        let changes = store.operations.changes
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in changes { inbox.yield(.changed) }
            }
            while true {
                // If the server writes URLs itself, a response in transit may be older than the URL.
                let mayPush = !turns.isPushing && !(options.serverSetsFileURLs && turns.isUploading)
                if mayPush { turns.hasNews = await hasNews() }
                var step: UploadInterleaving.Step
                repeat {
                    step = turns.next(hasFile: hasNext)
                    switch step {
                    case .file:
                        let index = dequeue()
                        group.addTask {
                            await self.process(index)
                            inbox.yield(.ended)
                        }
                    case .push:
                        group.addTask {
                            await self.pushNews()
                            inbox.yield(.pushed)
                        }
                    case .rest:
                        group.addTask { [clock = options.clock] in
                            if (try? await clock.sleep(for: Self.pause)) != nil { inbox.yield(.rested) }
                        }
                    case .wait, .end: break
                    }
                } while step != .wait && step != .end
                if step == .end { break }
                guard let event = await happened.next() else {
                    stop(.cancelled)
                    break
                }
                turns.handle(event)
            }
            group.cancelAll()
        }
    }

    /// Returns the time from which a file may be uploaded; `nil` if it may be uploaded now.
    private func waits(for file: PendingFile, at now: Date) -> Date? {
        guard !isExplicit, let date = file.retryAt, date > now else { return nil }
        // A later date shows that the clock was set back, so it does not apply.
        return date > now + RetryPolicy.longestPause ? nil : date
    }

    /// Whether a file is ready for upload.
    private var hasNext: Bool {
        state.withLock { state in
            state.stop == nil && state.next < state.uploads.count && state.uploads[state.next].outcome == nil
        }
    }

    private func dequeue() -> Int {
        state.withLock { state in
            state.next += 1
            return state.next - 1
        }
    }

    private func process(_ index: Int) async {
        let file = state.withLock { $0.uploads[index].file }
        do {
            let outcome = try await upload(file, index: index)
            state.withLock { state in
                state.uploads[index].outcome = outcome
                if case .uploaded? = outcome { state.uploads[index].sent = file.attachment.size ?? 0 }
            }
        } catch {
            await requeue(file)
            stop(error is CancellationError && Task.isCancelled ? .cancelled : .thrown(error))
        }
        reportProgress()
    }

    func stop(_ reason: PushState.Stop) {
        state.withLock { $0.stop = $0.stop ?? reason }
    }

    // MARK: A file

    /// - Returns: `nil` if the upload did not begin.
    private func upload(_ file: PendingFile, index: Int) async throws -> FileUpload.Outcome? {
        guard try await waitOutPause() else { return nil }
        let id = file.attachment.id
        guard try await store.lasting({ try $0.recordUploading(id, offset: file.offset) }) else { return .dropped }
        try await step(.began(id))
        let isKnown = try await store.read { try $0.isKnownToOthers(id) }
        let place = UploadDestination(id, in: store, isKnownToOthers: isKnown)
        var outgoing: OutgoingFile
        do {
            outgoing = try self.outgoing(file.attachment)
            // A server that sets URLs in its objects publishes a received file even if its response is lost.
            if !options.serverSetsFileURLs { outgoing.onPlace = { try await place.recordURL($0) } }
        } catch let error as TandemError {
            if try await !isWanted(id) { return await drop(file) }
            return try await fail(
                file,
                with: SyncError(
                    .store, message: "The file can't be read: \(error.message)", advice: error.advice, underlying: error
                ))
        }
        switch await exchange(outgoing, id: id, index: index) {
        case .success(let uploaded):
            try await step(.responded(id))
            return try await acknowledge(file, uploaded: uploaded, place: place)
        case .failure(let failure):
            if let error = place.thrown { throw error }
            switch failure {
            case .notSent: try await store.lasting { try place.strike(in: $0) }
            case .file(.taken): try await store.lasting { try place.strikeAll(in: $0) }
            default: break
            }
            if try await !isWanted(id) { return await drop(file) }
            return try await fail(file, with: failure)
        }
    }

    private func outgoing(_ attachment: Attachment) throws -> OutgoingFile {
        let reader = try store.attachments.reader(of: attachment)
        guard let digest = attachment.sha256 else {
            throw TandemError(
                .corrupt, message: "The file's hash is not known.", advice: "Attach it again.", store: store.path)
        }
        return OutgoingFile(
            id: attachment.id.rawValue, name: attachment.name, contentType: attachment.contentType, size: reader.size,
            sha256: digest.hex, bytes: ReaderBytes(reader: reader))
    }

    private enum Event: Sendable {
        case ended(Result<UploadedFile, RemoteFailure>)
        case dropped
    }

    /// Exchanges the file with the server. Ends early if the file is no longer needed.
    private func exchange(
        _ file: OutgoingFile, id: FileID, index: Int
    ) async -> Result<UploadedFile, RemoteFailure> {
        await withTaskGroup(of: Event.self) { group in
            group.addTask { [files] in
                do throws(RemoteFailure) {
                    return .ended(.success(try await files.upload(file) { self.reportProgress($0, index: index) }))
                } catch {
                    return .ended(.failure(error))
                }
            }
            group.addTask {
                for await _ in self.store.operations.changes {
                    if let isWanted = try? await self.isWanted(id), !isWanted { break }
                }
                return .dropped
            }
            var result: Result<UploadedFile, RemoteFailure> = .failure(.lost(CancellationError()))
            for await event in group {
                if case .ended(let ended) = event { result = ended }
                group.cancelAll()
            }
            return result
        }
    }

    private func isWanted(_ id: FileID) async throws -> Bool {
        try await store.read { try $0.isPending(id) }
    }

    private func acknowledge(
        _ file: PendingFile, uploaded: UploadedFile, place: UploadDestination
    ) async throws -> FileUpload.Outcome {
        guard options.serverSetsFileURLs else { return try await conclude(file, uploaded: uploaded, place: place) }
        do {
            // Without an operation, a pull could store a server item from before the upload.
            return try await context.withObjects { try await conclude(file, uploaded: uploaded, place: place) }
        } catch let error as SyncError where error.code == .busy {
            return try await fail(file, with: error)
        }
    }

    /// Saves the URL, and queues the update with it, in one transaction.
    private func conclude(
        _ file: PendingFile, uploaded: UploadedFile, place: UploadDestination
    ) async throws -> FileUpload.Outcome {
        let (id, isSetByServer) = (file.attachment.id, options.serverSetsFileURLs)
        let isOurs = !place.isKnownToOthers && (!isSetByServer && !uploaded.wasThere || options.deletesFiles)
        let unwanted = UnwantedFile(url: uploaded.url, etag: uploaded.etag)
        let operations = try await store.lasting { transaction in
            let before = try transaction.operationMarks()
            let waiting = try transaction.operationsWaiting(for: id)
            let operations = try transaction.finishUpload(
                of: id, at: uploaded.url, etag: uploaded.etag, isSetByServer: isSetByServer)
            if operations == nil {
                // No other client can know a file that this upload created.
                if isOurs {
                    try transaction.addUnwanted(unwanted)
                    try transaction.forgetSending(id)
                } else {
                    try place.strike(in: transaction)
                }
            }
            // If the user has a pending change, that operation also carries the URL.
            let own = (operations ?? []).filter { !before.has($0) || waiting.contains($0) }
            let marks = try own.compactMap { try transaction.operation(withID: $0) }.map { OperationMarks.Mark($0) }
            // Before the commit: the changes that ``hasNews()`` reads must not include this URL without its mark.
            self.state.withLock { $0.marks.formUnion(marks) }
            return operations
        }
        try await step(.concluded(id))
        state.withLock { state in
            state.filesWithoutResponse = 0
            state.operations += operations ?? []
        }
        guard operations != nil else { return await drop(file) }
        try? store.attachments.trimCache()
        return .uploaded(url: uploaded.url)
    }

    /// Leaves a file that is not needed now. The file of a deleted object waits for an undelete.
    private func drop(_ file: PendingFile) async -> FileUpload.Outcome {
        await requeue(file)
        return .dropped
    }

    func step(_ step: FileStep) async throws {
        try await options.onFileStep?(step)
    }
}

/// The bytes of a file in the store.
private struct ReaderBytes: FileBytes {
    let reader: AttachmentReader

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        Array(try reader.read(at: offset, count: count))
    }
}

extension Store {
    /// Writes without being cancelled with the caller, so that the server's response is stored.
    func lasting<T: Sendable>(_ body: @escaping @Sendable (SyncTransaction) throws -> T) async throws -> T {
        try await Task { try await self.write { try body($0.sync) } }.value
    }
}
