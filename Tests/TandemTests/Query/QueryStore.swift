import Foundation
import TandemTesting
import Testing

@testable import Tandem

/// Makes a store for the tests of queries.
func makeQueryStore(
    _ models: [any Model.Type] = [Thing.self, Owner.self, Tag.self], kind: StoreKind = .file
) throws -> Store {
    try kind.make(models)
}

extension Store {
    /// Inserts objects with their state as the store does.
    func put<M: Model>(_ objects: M...) throws { try put(objects) }

    func put<M: Model>(_ objects: [M]) throws {
        try writer.queue.unsafeReentrantWrite { _ in
            let connection = writer.connection
            try connection.execute("BEGIN")
            for object in objects { try connection.put(object) }
            try connection.execute("COMMIT")
        }
    }
}

extension Connection {
    fileprivate func put<M: Model>(_ object: M) throws {
        let model = M.__definition
        let buffer = RowEncoder()
        let state = object.__state
        buffer.append(text: state.localID.rawValue)
        if let serverID = state.serverID { buffer.append(text: serverID.rawValue) } else { buffer.appendNull() }
        buffer.append(state.isSynced, as: Bool.self)
        buffer.append(state.isDeleted, as: Bool.self)
        buffer.append(state.version, as: String?.self)
        buffer.append(state.createdAt, as: Date?.self)
        buffer.append(state.updatedAt, as: Date?.self)
        object.__append(to: buffer)
        var columns = RowDecoder.stateColumns.dropFirst() + model.properties.map(\.column)
        var values = buffer.slots.indices.map { buffer.value(at: $0) }
        var searched: [(String, StorageValue)] = []
        for (index, property) in model.properties.enumerated() {
            var text: String?
            if case .text(let value) = values[index + 7] { text = value }
            if let twin = property.sortColumn {
                columns.append(twin)
                values.append(text.map { .blob(collation.key(for: $0)) } ?? .null)
            }
            if let twin = property.searchColumn {
                let value = text.map { StorageValue.text(Folding.searchKey($0)) } ?? .null
                columns.append(twin)
                values.append(value)
                searched.append((twin, value))
            }
            if let twin = property.caselessColumn {
                columns.append(twin)
                values.append(text.map { .text(Folding.caseKey($0)) } ?? .null)
            }
        }
        let marks = values.map { _ in "?" }.joined(separator: ", ")
        let names = columns.map(\.quotedSQL).joined(separator: ", ")
        try execute("INSERT INTO \(model.table.quotedSQL)(\(names)) VALUES(\(marks))", binding: values)
        let row = lastInsertedRowID
        if let search = model.searchTable {
            let names = searched.map { $0.0.quotedSQL }.joined(separator: ", ")
            let marks = searched.map { _ in "?" }.joined(separator: ", ")
            try execute(
                "INSERT INTO \(search.quotedSQL)(rowid, \(names)) VALUES(?, \(marks))",
                binding: [.integer(row)] + searched.map(\.1))
        }
        for (index, property) in model.properties.enumerated() where property.isToMany {
            guard case .text(let json) = values[index + 7] else { continue }
            let links = model.linkTable(property).quotedSQL
            try execute(
                "INSERT INTO \(links)(target, object, position) SELECT value, ?, key FROM json_each(?)",
                binding: [.integer(row), .text(json)])
        }
    }
}

extension Results {
    /// The SQL of this query from its FROM, and the bound values.
    var sql: String {
        get throws {
            let explanation = try explain()
            let text = explanation.sql.components(separatedBy: " FROM ").dropFirst().joined(separator: " FROM ")
            return explanation.values.isEmpty
                ? text : text + "\n" + explanation.values.map(\.literal).joined(separator: ", ")
        }
    }
}

/// Checks the SQL of a query from its FROM, and the bound values.
func expectSQL<M: Model>(
    _ results: Results<M>, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let sql = try results.sql
    let folded = sql.replacingOccurrences(of: " WHERE ", with: "\nWHERE ")
        .replacingOccurrences(of: " ORDER BY ", with: "\nORDER BY ").replacingOccurrences(
            of: " LEFT JOIN ", with: "\nLEFT JOIN "
        )
        .replacingOccurrences(of: " AND EXISTS", with: "\nAND EXISTS")
    #expect(folded == expected, sourceLocation: sourceLocation)
    if expected.hasPrefix("@@") { print("REC", expected, Data(folded.utf8).base64EncodedString()) }
}
