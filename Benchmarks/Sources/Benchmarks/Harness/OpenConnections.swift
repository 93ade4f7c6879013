import GRDBSQLite
import Synchronization

/// All open connections of this process. SQLite calls a registered function for each connection that it opens
/// (`sqlite3_auto_extension`), so Tandem needs no change.
enum OpenConnections {
    private static let open = Mutex<[UInt]>([])

    /// Starts registering new connections.
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

    /// Returns the connection that writes a file, or `nil` if no registered connection does.
    static func writer(of path: String) -> OpaquePointer? {
        all.first { handle in
            guard sqlite3_db_readonly(handle, "main") == 0, let name = sqlite3_db_filename(handle, "main") else {
                return false
            }
            return String(cString: name) == path
        }
    }

    /// Removes a connection from the list when it closes. Also required after another use of its trace, because a
    /// connection has only one.
    static func noteClosing(of handle: OpaquePointer) {
        // SQLITE_TRACE_CLOSE alone costs nothing before the close.
        sqlite3_trace_v2(
            handle, UInt32(SQLITE_TRACE_CLOSE),
            { _, _, closed, _ in
                OpenConnections.open.withLock { open in open.removeAll { $0 == UInt(bitPattern: closed) } }
                return 0
            }, nil)
    }
}
