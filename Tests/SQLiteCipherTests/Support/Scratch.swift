import Foundation
import GRDB
import Testing

@testable import SQLiteCipher

/// A folder for one test, removed when the test releases it.
final class Scratch {
    let url: URL

    /// - Parameter inMemory: Whether the folder is in memory if the system allows it, for tests that write and flush
    ///   often.
    init(inMemory: Bool = false) throws {
        let memory = "/dev/shm"
        let parent =
            inMemory && access(memory, W_OK) == 0
            ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
        url = parent.appendingPathComponent("scratch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Copies the folder to a place that the test doesn't remove.
    func keep(_ name: String) throws {
        let target = FileManager.default.temporaryDirectory.appendingPathComponent("sqlitecipher-\(name)")
        try? FileManager.default.removeItem(at: target)
        try FileManager.default.copyItem(at: url, to: target)
        print("kept: \(target.path)")
    }

    /// Returns the names of the files beside a database that begin with its name.
    func companions(of path: String) throws -> [String] {
        let prefix = (path as NSString).lastPathComponent + "-"
        return try FileManager.default.contentsOfDirectory(atPath: url.path).filter { $0.hasPrefix(prefix) }.sorted()
    }

    /// Removes the files beside a database: its log, its journal and the files of an interrupted change of key.
    func removeCompanions(of path: String) throws {
        for name in try companions(of: path) {
            try FileManager.default.removeItem(at: url.appendingPathComponent(name))
        }
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

/// A raw key, so that tests don't wait for a key derivation.
let testKey = CipherKey.raw(Array(0..<32))
let otherKey = CipherKey.raw(Array(1..<33))

enum Profile: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case gcm
    case sqlCipher

    var profile: CipherProfile { self == .gcm ? .aes256gcm : .sqlCipher4 }
    func profile(pageSize: Int) -> CipherProfile {
        self == .gcm ? .aes256gcm(pageSize: pageSize) : .sqlCipher4(pageSize: pageSize)
    }
    var testDescription: String { rawValue }
}

enum JournalMode: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case delete
    case truncate
    case persist
    case memory
    case wal
    var testDescription: String { rawValue }
}

func contents(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
/// - Parameter inPlace: Whether to write into the existing file, which other connections have open.
func write(_ bytes: [UInt8], to path: String, inPlace: Bool = false) throws {
    guard inPlace else { return try Data(bytes).write(to: URL(fileURLWithPath: path)) }
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? handle.close() }
    try handle.write(contentsOf: Data(bytes))
}

extension Database {
    /// Fills a table with text, large values that overflow a page, and an index.
    func fill(rows: Int, marker: String = "marker") throws {
        try execute(sql: "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, name TEXT, body BLOB)")
        try execute(sql: "CREATE INDEX IF NOT EXISTS byName ON t (name)")
        for row in 0..<rows {
            let body = String(repeating: "\(marker) \(row) ", count: row % 10 == 0 ? 900 : 8)
            try execute(sql: "INSERT INTO t (name, body) VALUES (?, ?)", arguments: ["\(marker) name \(row)", body])
        }
    }

    func integrity() throws -> [String] { try String.fetchAll(self, sql: "PRAGMA integrity_check") }
    func count() throws -> Int { try Int.fetchOne(self, sql: "SELECT count(*) FROM t") ?? -1 }
}

extension Data {
    /// Returns the lines of a trace whose first 80 bytes, those before a call's buffer, have one of the names.
    func lines(naming names: [String]) -> [String] {
        withUnsafeBytes { memory in
            var lines: [String] = []
            var rest = memory[...]
            while !rest.isEmpty {
                let end = memchr(rest.base.baseAddress! + rest.startIndex, 10, rest.count).map {
                    UnsafeRawPointer($0) - rest.base.baseAddress!
                }
                let line = rest[..<(end ?? rest.endIndex)]
                let head = String(decoding: line.prefix(80), as: UTF8.self)
                if names.contains(where: head.contains) { lines.append(String(decoding: line, as: UTF8.self)) }
                rest = rest[(end.map { $0 + 1 } ?? rest.endIndex)...]
            }
            return lines
        }
    }
}
