import GRDBSQLite
import Synchronization

/// All connections of this process, whoever opened them: known from outside, by what SQLite runs for each that it opens
/// (`sqlite3_auto_extension`). Nothing of Tandem is changed for it.
enum OpenConnections {
    private static let open = Mutex<[UInt]>([])

    /// From now on connections are known as they are opened.
    static let begin: Void = {
        typealias Entry = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32
        let entry: Entry = { handle, _, _ in
            guard let handle else { return SQLITE_OK }
            OpenConnections.open.withLock { $0.append(UInt(bitPattern: handle)) }
            OpenConnections.noteClosing(of: handle)
            return SQLITE_OK
        }
        sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self))
    }()

    static var all: [OpaquePointer] { open.withLock { $0 }.compactMap { OpaquePointer(bitPattern: $0) } }

    /// The connection that writes a file; `nil` if none of those that are known does.
    static func writer(of path: String) -> OpaquePointer? {
        all.first { handle in
            guard sqlite3_db_readonly(handle, "main") == 0, let name = sqlite3_db_filename(handle, "main") else {
                return false
            }
            return String(cString: name) == path
        }
    }

    /// Has a connection forgotten when it is closed. For who has traced it for something else meanwhile, too: a
    /// connection has one trace.
    static func noteClosing(of handle: OpaquePointer) {
        // SQLITE_TRACE_CLOSE alone costs nothing before the end.
        sqlite3_trace_v2(
            handle, UInt32(SQLITE_TRACE_CLOSE),
            { _, _, closed, _ in
                OpenConnections.open.withLock { open in open.removeAll { $0 == UInt(bitPattern: closed) } }
                return 0
            }, nil)
    }
}
