import Foundation
import TandemTesting

@testable import Tandem

/// Runs a test with a path for a store in a separate folder.
func withStorePath<T>(_ body: (String) throws -> T) throws -> T {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.appendingPathComponent("test.tandem").path)
}

func withStorePath<T>(_ body: (String) async throws -> T) async throws -> T {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.appendingPathComponent("test.tandem").path)
}

/// Returns the code of the error that a block throws.
func code<T>(_ body: () throws -> T) -> TandemError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? TandemError)?.code
    }
}

/// Returns the error that a block throws.
func failure<T>(_ body: () throws -> T) -> TandemError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? TandemError
    }
}

extension Store {
    /// Returns the object with a local ID, even if it is deleted.
    func stored<M: Model>(_ model: M.Type, _ localID: LocalID) throws -> M? {
        let table = try schema.table(M.self)
        return try reading { connection in
            let statement = try connection.statement(
                "SELECT \(table.selectList) FROM \(table.quotedTable) WHERE \"localID\" = ?")
            defer { statement.reset() }
            statement.bind(1, to: localID.rawValue)
            return try statement.step() ? try M(__row: statement.row()) : nil
        }
    }

    func stored<M: Model>(_ object: M) throws -> M? { try stored(M.self, object.localID) }

    /// Returns the objects that queries return, by local ID.
    func live<M: Model>(_ model: M.Type) throws -> [M] {
        let table = try schema.table(M.self)
        return try reading { connection in
            let statement = try connection.uncachedStatement(
                "SELECT \(table.selectList) FROM \(table.quotedTable) WHERE \"deleted\" = 0 ORDER BY \"localID\"")
            var objects: [M] = []
            while try statement.step() { objects.append(try M(__row: statement.row())) }
            return objects
        }
    }
}

extension Connection {
    /// The number of rows that all statements on the connection have changed.
    var totalChanges: Int64 {
        (try? value("SELECT total_changes()")).flatMap { if case .integer(let n) = $0 { n } else { nil } } ?? -1
    }
}
