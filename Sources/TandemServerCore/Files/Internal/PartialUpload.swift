import Crypto
import Foundation
import Synchronization

/// A partial upload. Only the latest request can add bytes to it.
final class PartialUpload: Sendable {
    /// The result of a completed upload.
    enum End { case whole, wrongHash }

    private struct State {
        let content: any FileStorageContent
        var offset: Int64
        /// The hash of the bytes up to `offset`; `nil` if they arrived before the server started.
        var hash: SHA256?
        /// The number of the request that may add bytes.
        var turn = 0
        var isOver = false
        /// The time of the last access by a sender.
        var touchedAt: Date
    }

    let file: ServerFile
    private let state: Mutex<State>

    /// Creates an empty partial upload.
    init(_ file: ServerFile, content: any FileStorageContent, at now: Date) {
        self.file = file
        state = Mutex(State(content: content, offset: 0, hash: SHA256(), touchedAt: now))
    }

    /// Creates a partial upload from bytes found when the server started.
    init(found file: ServerFile, content: any FileStorageContent, at date: Date) throws(FileStorageError) {
        self.file = file
        // The file has more bytes than announced. The hash will detect that.
        let offset = min(try content.size(), file.size)
        state = Mutex(State(content: content, offset: offset, hash: nil, touchedAt: date))
    }

    var touchedAt: Date { state.withLock { $0.touchedAt } }

    var offset: Int64 { state.withLock { $0.offset } }

    /// Prevents all further additions.
    func end() { state.withLock { $0.isOver = true } }

    /// Permits a request to continue at an offset, and ends the permission of older requests. Returns `nil` if the
    /// offset is not the end of the bytes.
    func turn(at offset: Int64, now: Date) -> Int? {
        state.withLock { state in
            guard !state.isOver, state.offset == offset else { return nil }
            state.turn += 1
            state.touchedAt = now
            return state.turn
        }
    }

    /// Ends the permission of all current requests, and returns the offset for the next one.
    func resume(at now: Date) -> Int64 {
        state.withLock { state in
            state.turn += 1
            state.touchedAt = now
            return state.offset
        }
    }

    /// Adds bytes. Returns false if a later request has replaced this one.
    func append(_ bytes: [UInt8], turn: Int, at now: Date) throws(FileStorageError) -> Bool {
        try state.withLock { state throws(FileStorageError) in
            guard !state.isOver, state.turn == turn else { return false }
            try state.content.write(bytes, at: state.offset)
            state.hash?.update(data: bytes)
            state.offset += Int64(bytes.count)
            state.touchedAt = now
            return true
        }
    }

    /// Compares all bytes with the hash, and flushes them. Returns `nil` if bytes are missing, or the upload is
    /// completed already.
    func finish() throws(FileStorageError) -> End? {
        try state.withLock { state throws(FileStorageError) in
            guard !state.isOver, state.offset == file.size else { return nil }
            if state.hash == nil { state.hash = try Self.hash(state.content, size: state.offset) }
            guard let hash = state.hash else { return nil }
            guard hash.finalize().map(ServerDigest.hex).joined() == file.sha256 else {
                state.isOver = true
                return .wrongHash
            }
            try state.content.flush()
            state.isOver = true
            return .whole
        }
    }

    private static func hash(_ content: any FileStorageContent, size: Int64) throws(FileStorageError) -> SHA256 {
        var hash = SHA256()
        var offset: Int64 = 0
        while offset < size {
            let bytes = try content.read(at: offset, count: Int(min(1 << 20, size - offset)))
            guard !bytes.isEmpty else { break }
            hash.update(data: bytes)
            offset += Int64(bytes.count)
        }
        return hash
    }
}
