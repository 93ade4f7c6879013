import Foundation
import Synchronization

/// Where a server keeps files: in memory, or in a folder.
///
/// For example:
///
/// ```swift
/// var configuration = ServerConfiguration()
/// configuration.files = ServerFiles(FileShelf.inMemory())
/// ```
///
/// A file is on it by its ID, once all bytes have come and have its hash; until then the shelf keeps the beginning that
/// came, to go on from. A beginning that nobody has gone on with for a day is forgotten, when the shelf is opened and when
/// another file begins. Names are kept beside the bytes, and never become paths.
public final class FileShelf: Sendable {
    /// What a shelf has under an ID.
    enum Found {
        case nothing
        case begun(ServerFile, offset: Int64)
        case whole(ServerFile)
    }

    /// What came of the wish to send bytes.
    enum Opening {
        case open(Writing)
        case wrongOffset(Int64)
        case whole(ServerFile)
    }

    /// How long a beginning is kept that nobody goes on with: a day.
    public static let patience: Duration = .seconds(86_400)

    private let place: any ShelfPlace
    private let clock: ServerClock
    /// Its lock is held while records are read and written.
    private let begun = Mutex(Beginnings())

    private init(_ place: any ShelfPlace, _ clock: ServerClock) {
        self.place = place
        self.clock = clock
        let limit = limit
        begun.withLock { $0.left = place.beginnings(forgetting: limit) }
    }

    /// A shelf that goes with the server.
    ///
    /// - Parameter clock: Tells how old a beginning is.
    public static func inMemory(clock: ServerClock = ServerClock()) -> FileShelf { FileShelf(MemoryPlace(), clock) }

    /// A shelf in a folder, which is made if there is none. One process at a time uses it.
    ///
    /// What an earlier process has left unfinished is looked at: beginnings, bytes without a record, and records that
    /// were being written go if they are older than ``patience``.
    ///
    /// - Parameter clock: Tells how old a beginning is: its time is held against those of the files on the disk.
    /// - Throws: ``FileShelfError`` with the code `cannotOpen`.
    /// - Complexity: O(*n*), with a read of each file's record.
    public static func inFolder(
        at path: String, clock: ServerClock = ServerClock()
    ) throws(FileShelfError) -> FileShelf {
        FileShelf(try FolderPlace(path), clock)
    }

    /// The files that are whole, by ID.
    ///
    /// - Complexity: O(*n*), with a read of each file's record.
    public func files() throws(FileShelfError) -> [ServerFile] {
        var files: [ServerFile] = []
        for id in try place.ids().sorted() {
            if let record = try place.record(id), record.isWhole { files.append(record.file) }
        }
        return files
    }

    /// Some bytes of a whole file, fewer than asked for at its end; nil if there is none.
    public func bytes(of id: String, at offset: Int64 = 0, count: Int) throws(FileShelfError) -> [UInt8]? {
        guard ServerFile.isID(id), let (_, content) = try open(id) else { return nil }
        return try content.read(at: offset, count: count)
    }

    /// How many bytes of a file have come that is not whole; nil if there is no such file.
    public func offset(of id: String) throws(FileShelfError) -> Int64? {
        guard ServerFile.isID(id), case .begun(_, let offset) = try find(id) else { return nil }
        return offset
    }
}

extension FileShelf {
    func find(_ id: String) throws(FileShelfError) -> Found {
        try begun.withLock { begun throws(FileShelfError) in
            guard let record = try place.record(id) else { return .nothing }
            if record.isWhole { return .whole(record.file) }
            guard let started = try self.started(record, &begun) else { return .nothing }
            guard started.offset == record.file.size else { return .begun(record.file, offset: started.offset) }
            // All had come when the server ended, or a request just now, which says so itself.
            return switch try end(started, &begun) {
            case .whole: .whole(record.file)
            case .wrongHash: .nothing
            case nil: .begun(record.file, offset: started.offset)
            }
        }
    }

    /// Where a file goes on that is not whole, for a request that is to come: none that is under way moves that any more.
    func settle(_ id: String) -> Int64? {
        let now = clock.now()
        return begun.withLock { $0.open[id]?.settle(at: now) }
    }

    /// A whole file and its bytes.
    func open(_ id: String) throws(FileShelfError) -> (ServerFile, any ShelfContent)? {
        guard let record = try place.record(id), record.isWhole, let content = try place.open(id) else { return nil }
        return (record.file, content)
    }

    /// Lets a request send bytes from an offset on. An older request that sends some of this file can't any more.
    ///
    /// - Parameter anew: Whether what has come before is to be forgotten.
    func write(_ file: ServerFile, at offset: Int64, anew: Bool) throws(FileShelfError) -> Opening {
        try begun.withLock { begun throws(FileShelfError) in
            let record = try place.record(file.id)
            if let record, record.isWhole { return .whole(record.file) }
            var started = try record.flatMap { record throws(FileShelfError) in try self.started(record, &begun) }
            if let other = started, anew || other.file.size != file.size || other.file.sha256 != file.sha256 {
                other.end()
                begun[file.id] = nil
                started = nil
            }
            let now = clock.now()
            if started == nil {
                guard offset == 0 else { return .wrongOffset(0) }
                forgetOld(&begun)
                let content = try place.create(file.id)
                try place.save(FileRecord(file: file, isWhole: false))
                started = BegunFile(file, content, at: now)
                begun[file.id] = started
            }
            guard let started else { return .wrongOffset(0) }
            guard let turn = started.turn(at: offset, now) else { return .wrongOffset(started.offset) }
            return .open(Writing(shelf: self, begun: started, turn: turn))
        }
    }

    /// Forgets a file, whole or not.
    func remove(_ id: String) throws(FileShelfError) {
        try begun.withLock { begun throws(FileShelfError) in
            begun[id]?.end()
            begun[id] = nil
            try place.remove(id)
        }
    }

    /// What has come of a file that is not whole; nil if its bytes are lost.
    private func started(
        _ record: FileRecord, _ begun: inout Beginnings
    ) throws(FileShelfError) -> BegunFile? {
        if let known = begun[record.file.id] { return known }
        guard let content = try place.open(record.file.id) else { return nil }
        // As long untouched as it was found, or since now, if another process has begun it.
        let found = try BegunFile(found: record.file, content, at: begun.left[record.file.id] ?? clock.now())
        begun[record.file.id] = found
        return found
    }

    private func end(
        _ started: BegunFile, _ begun: inout Beginnings
    ) throws(FileShelfError) -> BegunFile.End? {
        let end = try started.finish()
        let id = started.file.id
        switch end {
        case .whole: try place.save(FileRecord(file: started.file, isWhole: true))
        case .wrongHash: try place.remove(id)
        case nil: return nil
        }
        if begun[id] === started { begun[id] = nil }
        return end
    }

    // MARK: What is forgotten

    /// Untouched since before this, a beginning is forgotten.
    private var limit: Date { clock.now() - Double(Self.patience.components.seconds) }

    /// Forgets the beginnings that nobody goes on with. What can't be removed goes when the shelf is opened again.
    private func forgetOld(_ begun: inout Beginnings) {
        for id in begun.old(before: limit) {
            begun[id]?.end()
            begun[id] = nil
            try? place.remove(id)
        }
    }

    /// The files that have begun, by ID.
    private struct Beginnings {
        /// What has begun, or was asked for, since the shelf was opened.
        var open: [String: BegunFile] = [:]
        /// When others, which were there when it was opened, were touched last.
        var left: [String: Date] = [:]

        subscript(id: String) -> BegunFile? {
            get { open[id] }
            set {
                open[id] = newValue
                left[id] = nil
            }
        }

        func old(before limit: Date) -> [String] {
            open.filter { $0.value.touchedAt < limit }.map(\.key) + left.filter { $0.value < limit }.map(\.key)
        }
    }

    /// A request's right to add bytes to a file.
    struct Writing {
        fileprivate let shelf: FileShelf
        fileprivate let begun: BegunFile
        fileprivate let turn: Int

        var offset: Int64 { begun.offset }

        /// False if a later request has it by now.
        func append(_ bytes: [UInt8]) throws(FileShelfError) -> Bool {
            try begun.append(bytes, turn: turn, at: shelf.clock.now())
        }

        /// What became of a file that is all there; nil if it is not, or not by this request.
        func finish() throws(FileShelfError) -> BegunFile.End? {
            try shelf.begun.withLock { begun throws(FileShelfError) in
                try shelf.end(self.begun, &begun)
            }
        }
    }
}
