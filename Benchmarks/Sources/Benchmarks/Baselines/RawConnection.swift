import Foundation
import GRDBSQLite

/// A connection through SQLite's C API, with the settings of Tandem's own.
final class RawConnection {
    let handle: OpaquePointer

    /// Opens a connection.
    ///
    /// - Parameter cacheKiB: The cache size. Tandem's writer has 64 MiB, a reader 16.
    init(_ path: String, readOnly: Bool = false, cacheKiB: Int) throws {
        var handle: OpaquePointer?
        let flags = (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else { throw RawError(code: code, message: path) }
        self.handle = handle
        try execute(
            """
            PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -\(cacheKiB);
            PRAGMA mmap_size = \(256 << 20); PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF
            """)
    }

    func execute(_ sql: String) throws {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    func prepare(_ sql: String) throws -> RawStatement {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        return RawStatement(handle: statement!)
    }

    func check(_ code: Int32) throws {
        guard code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW else {
            throw RawError(code: code, message: String(cString: sqlite3_errmsg(handle)))
        }
    }

    /// Closes the connection. Its statements must be finalized before.
    func close() {
        sqlite3_close_v2(handle)
    }
}

struct RawError: Error {
    let code: Int32
    let message: String
}

/// A prepared statement. The caller finalizes it.
struct RawStatement {
    let handle: OpaquePointer

    @inline(__always)
    func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw RawError(code: code, message: String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))
    }

    @inline(__always)
    func run() throws {
        _ = try step()
        sqlite3_reset(handle)
    }

    @inline(__always) func reset() { sqlite3_reset(handle) }
    func finalize() { sqlite3_finalize(handle) }

    @inline(__always) func bind(_ index: Int32, to value: Int64) { sqlite3_bind_int64(handle, index, value) }
    @inline(__always) func bind(_ index: Int32, to value: Bool) { sqlite3_bind_int64(handle, index, value ? 1 : 0) }
    @inline(__always) func bind(_ index: Int32, to value: Double) { sqlite3_bind_double(handle, index, value) }
    @inline(__always) func bindNull(_ index: Int32) { sqlite3_bind_null(handle, index) }

    /// Binds bytes that must stay in place until the statement is reset.
    @inline(__always)
    func bind(_ index: Int32, text bytes: UnsafeRawBufferPointer) {
        sqlite3_bind_text(
            handle, index, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), Int32(bytes.count), nil)
    }

    @inline(__always)
    func bind(_ index: Int32, blob bytes: UnsafeRawBufferPointer) {
        sqlite3_bind_blob(handle, index, bytes.baseAddress!, Int32(bytes.count), nil)
    }

    @inline(__always)
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    @inline(__always)
    func text(_ column: Int32) -> String {
        let pointer = sqlite3_column_text(handle, column)
        return String(
            decoding: UnsafeBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(handle, column))),
            as: UTF8.self)
    }

    @inline(__always)
    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    @inline(__always)
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    @inline(__always)
    func date(_ column: Int32) -> Date { Date(timeIntervalSinceReferenceDate: sqlite3_column_double(handle, column)) }

    @inline(__always)
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let pointer = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(handle, column)))
    }
}

/// Memory for values while they are bound.
struct Scratch {
    private let start = UnsafeMutableRawPointer.allocate(byteCount: 1 << 20, alignment: 16)
    private var used = 0

    @inline(__always)
    mutating func clear() { used = 0 }

    @inline(__always)
    mutating func put(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let place = start + used
        used += bytes.count
        if let source = bytes.baseAddress { place.copyMemory(from: source, byteCount: bytes.count) }
        return UnsafeRawBufferPointer(start: place, count: bytes.count)
    }

    @inline(__always)
    mutating func put(_ text: String) -> UnsafeRawBufferPointer {
        var text = text
        return text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
    }

    func free() { start.deallocate() }
}

extension RawStatement {
    /// Hashes all values of a row with their storage classes (FNV-1a).
    func hashRow(into hash: inout UInt64) {
        for column in 0..<sqlite3_column_count(handle) {
            hash = (hash ^ UInt64(sqlite3_column_type(handle, column))) &* 0x100_0000_01B3
            for byte in bytes(column) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
    }
}
