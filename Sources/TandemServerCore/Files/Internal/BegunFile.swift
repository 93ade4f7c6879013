import Crypto
import Foundation
import Synchronization

/// A file of which a beginning has come. One request at a time adds to it: the latest.
final class BegunFile: Sendable {
    /// What became of a file whose bytes have come.
    enum End { case whole, wrongHash }

    private struct State {
        let content: any ShelfContent
        var offset: Int64
        /// Of the bytes up to `offset`; nil where they came before the server started.
        var hash: SHA256?
        /// Which request may add to it.
        var turn = 0
        var isOver = false
        /// When something was added to it last, or was about to be.
        var touchedAt: Date
    }

    let file: ServerFile
    private let state: Mutex<State>

    /// One that has just begun, with no bytes.
    init(_ file: ServerFile, _ content: any ShelfContent, at now: Date) {
        self.file = file
        state = Mutex(State(content: content, offset: 0, hash: SHA256(), touchedAt: now))
    }

    /// One whose beginning was there when the server started.
    init(found file: ServerFile, _ content: any ShelfContent, at date: Date) throws(FileShelfError) {
        self.file = file
        // More than all can't be a beginning of it: the hash will say so.
        let offset = min(try content.size(), file.size)
        state = Mutex(State(content: content, offset: offset, hash: nil, touchedAt: date))
    }

    var touchedAt: Date { state.withLock { $0.touchedAt } }

    var offset: Int64 { state.withLock { $0.offset } }

    /// Lets nobody add to it any more.
    func end() { state.withLock { $0.isOver = true } }

    /// Lets a request go on from an offset, and no older request; nil if that is not where it goes on.
    func turn(at offset: Int64, _ now: Date) -> Int? {
        state.withLock { state in
            guard !state.isOver, state.offset == offset else { return nil }
            state.turn += 1
            state.touchedAt = now
            return state.turn
        }
    }

    /// Lets no request that is under way add to it any more. Where it then goes on.
    func settle(at now: Date) -> Int64 {
        state.withLock { state in
            state.turn += 1
            state.touchedAt = now
            return state.offset
        }
    }

    /// Adds bytes; false if a later request does that by now.
    func append(_ bytes: [UInt8], turn: Int, at now: Date) throws(FileShelfError) -> Bool {
        try state.withLock { state throws(FileShelfError) in
            guard !state.isOver, state.turn == turn else { return false }
            try state.content.write(bytes, at: state.offset)
            state.hash?.update(data: bytes)
            state.offset += Int64(bytes.count)
            state.touchedAt = now
            return true
        }
    }

    /// Holds all bytes against the hash, and flushes them; nil if some are missing, or if that is done already.
    func finish() throws(FileShelfError) -> End? {
        try state.withLock { state throws(FileShelfError) in
            guard !state.isOver, state.offset == file.size else { return nil }
            if state.hash == nil { state.hash = try Self.hash(state.content, state.offset) }
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

    private static func hash(_ content: any ShelfContent, _ size: Int64) throws(FileShelfError) -> SHA256 {
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
