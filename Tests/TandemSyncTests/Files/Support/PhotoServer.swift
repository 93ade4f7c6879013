import Crypto
import Foundation
import Synchronization
import Tandem
import TandemSync

/// An in-memory file server with scripted faults.
final class PhotoServer: RemoteFiles {
    enum Fault: Sendable {
        /// The request fails before it has an effect.
        case fail(RemoteFailure)
        /// The request is executed, and the response is lost.
        case loseResponse
        /// An upload announces its file's URL, and then fails.
        case failPlaced(RemoteFailure)
        /// The connection breaks after a number of bytes.
        case breakAfter(Int, RemoteFailure? = nil)
        /// Other bytes of the same length are sent.
        case garble
        /// The file is announced with another size.
        case say(Int64)
    }

    struct StoredFile: Sendable {
        var name: String
        var contentType: String
        var bytes: [UInt8]
        var etag: String
    }

    private struct State {
        var files: [String: StoredFile] = [:]
        var partial: [String: [UInt8]] = [:]
        var requests: [String] = []
        var faults: [(String, Fault)] = []
        var running = 0
        var most = 0
        var whileUploading: (@Sendable () async -> Void)?
        var midway: (count: Int, body: @Sendable () async -> Void)?
        var whileDownloading: (@Sendable () async -> Void)?
        var hasETags = true
        var saysWhatWasThere = true
        var received = 0
    }

    private let state = Mutex(State())

    /// The files, by their URLs.
    var files: [String: StoredFile] { state.withLock { $0.files } }
    /// The IDs of incomplete uploads.
    var beginnings: [String] { state.withLock { Array($0.partial.keys) } }
    /// The requests: `upload ID`, `download URL from 0`, `delete URL`.
    var requests: [String] { state.withLock { $0.requests } }
    func forgetRequests() { state.withLock { $0.requests = [] } }
    var mostAtOnce: Int { state.withLock { $0.most } }
    /// The number of received bytes.
    var received: Int { state.withLock { $0.received } }

    func next(_ kind: String, _ fault: Fault) { state.withLock { $0.faults.append((kind, fault)) } }
    /// Sets a closure that runs during the next uploads.
    func whileUploading(_ body: (@Sendable () async -> Void)?) { state.withLock { $0.whileUploading = body } }
    /// Sets a closure that runs once, after a number of bytes of an upload.
    func whileUploading(after count: Int, _ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.midway = (count, body) }
    }
    /// Sets a closure that runs before the first byte of the next downloads.
    func whileDownloading(_ body: (@Sendable () async -> Void)?) { state.withLock { $0.whileDownloading = body } }
    /// Reports each upload as the first, as a storage with signed URLs does.
    func hideWhatWasThere() { state.withLock { $0.saysWhatWasThere = false } }
    /// Omits the ETags of files.
    func hideETags() { state.withLock { $0.hasETags = false } }
    func remove(_ url: String) { state.withLock { $0.files[url] = nil } }
    func put(_ bytes: [UInt8], at url: String) {
        state.withLock { $0.files[url] = StoredFile(name: "", contentType: "", bytes: bytes, etag: Self.etag(bytes)) }
    }

    /// Changes a file's ETag but not its bytes.
    func retag(_ url: String) { state.withLock { $0.files[url]?.etag += "-copied" } }

    static func url(_ id: String) -> String { "https://shelf.example/files/\(id)" }
    private static func etag(_ bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).prefix(4).map { String($0, radix: 16) }.joined()
    }

    private func fault(_ kind: String, _ request: String) -> Fault? {
        state.withLock { state in
            state.requests.append(request)
            guard let index = state.faults.firstIndex(where: { $0.0 == kind }) else { return nil }
            return state.faults.remove(at: index).1
        }
    }

    struct Broken: Error {}

    func upload(
        _ file: OutgoingFile, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> UploadedFile {
        let fault = fault("upload", "upload \(file.id)")
        if case .fail(let failure)? = fault { throw failure }
        let url = Self.url(file.id)
        try await file.willBe(at: url)
        if case .failPlaced(let failure)? = fault { throw failure }
        if let there = files[url] {
            if case .loseResponse? = fault { throw .lost(Broken()) }
            guard there.bytes.count == file.size else { throw .file(.taken) }
            return UploadedFile(url: url, etag: there.etag, wasThere: state.withLock(\.saysWhatWasThere))
        }
        let body = state.withLock { state in
            state.running += 1
            state.most = max(state.most, state.running)
            return state.whileUploading
        }
        defer { state.withLock { $0.running -= 1 } }
        var bytes = state.withLock { $0.partial[file.id] ?? [] }
        progress(Int64(bytes.count))
        while Int64(bytes.count) < file.size {
            if Task.isCancelled { throw .lost(CancellationError()) }
            do {
                let piece = try await file.bytes.read(at: Int64(bytes.count), count: 1000)
                guard !piece.isEmpty else {
                    throw ShortFile(end: Int64(bytes.count), size: file.size)
                }
                bytes += piece
                state.withLock { $0.received += piece.count }
            } catch {
                throw .file(.unreadable(error))
            }
            let kept = bytes
            state.withLock { $0.partial[file.id] = kept }
            progress(Int64(bytes.count))
            if case .breakAfter(let count, let failure)? = fault, bytes.count >= count {
                throw failure ?? .lost(Broken())
            }
            let count = bytes.count
            await takeMidway(at: count)?()
            await Task.yield()
        }
        await body?()
        if Task.isCancelled { throw .lost(CancellationError()) }
        let digest = SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
        guard digest == file.sha256 else { throw .file(.hashMismatch) }
        let kept = StoredFile(name: file.name, contentType: file.contentType, bytes: bytes, etag: Self.etag(bytes))
        state.withLock { state in
            state.files[url] = kept
            state.partial[file.id] = nil
        }
        if case .loseResponse? = fault { throw .lost(Broken()) }
        return UploadedFile(url: url, etag: kept.etag)
    }

    private func forgetBeginning(_ url: String) -> Bool {
        state.withLock { state in
            guard let id = state.partial.keys.first(where: { Self.url($0) == url }) else { return false }
            state.partial[id] = nil
            return true
        }
    }

    private func takeMidway(at count: Int) -> (@Sendable () async -> Void)? {
        state.withLock { state in
            guard let midway = state.midway, count >= midway.count else { return nil }
            state.midway = nil
            return midway.body
        }
    }

    func download(
        _ file: RemoteFile, from offset: Int64, to take: @escaping @Sendable (FilePiece) async throws -> Void
    ) async throws(RemoteFailure) -> ServedFile {
        let fault = fault("download", "download \(file.url) from \(offset)")
        if case .fail(let failure)? = fault { throw failure }
        await state.withLock(\.whileDownloading)?()
        guard var kept = files[file.url] else { throw .notFound }
        if let etag = file.etag, etag != kept.etag { throw .file(.changed) }
        if case .garble? = fault { kept.bytes = kept.bytes.map { ~$0 } }
        var served = ServedFile(size: Int64(kept.bytes.count), etag: kept.etag)
        if case .say(let size)? = fault { served.size = size }
        if !state.withLock(\.hasETags) { served.etag = nil }
        var place = Int(offset)
        while place < kept.bytes.count {
            if Task.isCancelled { throw .lost(CancellationError()) }
            let piece = Array(kept.bytes[place..<min(kept.bytes.count, place + 1000)])
            do {
                try await take(FilePiece(bytes: piece, offset: Int64(place), file: served))
            } catch {
                throw .file(.receiverFailed(error))
            }
            place += piece.count
            if case .breakAfter(let count, let failure)? = fault, place >= count { throw failure ?? .lost(Broken()) }
            await Task.yield()
        }
        return served
    }

    func delete(_ file: RemoteFile) async throws(RemoteFailure) {
        let fault = fault("delete", "delete \(file.url)")
        if case .fail(let failure)? = fault { throw failure }
        guard let kept = files[file.url] else {
            guard forgetBeginning(file.url) else { throw .notFound }
            return
        }
        if let etag = file.etag, etag != kept.etag { throw .file(.changed) }
        state.withLock { $0.files[file.url] = nil }
        if case .loseResponse? = fault { throw .lost(Broken()) }
    }
}
