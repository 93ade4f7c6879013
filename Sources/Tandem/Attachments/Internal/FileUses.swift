/// The SQL that records the uses of files by objects, for a table with attachments.
///
/// Triggers record them, so every change of a row is covered: writes of the app, of a server, and of a migration. A
/// model without attachments has no triggers.
struct FileUses {
    let table: String
    let columns: [AttachmentColumn]

    /// - Returns: `nil` if the model has no attachments.
    init?(_ definition: ModelDefinition) {
        let columns = definition.attachmentColumns
        if columns.isEmpty { return nil }
        table = definition.table
        // Sent properties come first: a file in both kinds of properties is sent.
        self.columns = columns.filter(\.isSent) + columns.filter { !$0.isSent }
    }

    struct Trigger {
        let name: String
        let sql: String
    }

    /// Returns the names of a table's triggers, without their numbers.
    static func names(of table: String) -> [String] {
        ["__files_insert_\(table)", "__files_update_\(table)", "__files_delete_\(table)"]
    }

    var triggers: [Trigger] {
        let names = Self.names(of: table)
        let inserts = columns.map { "\(insert(of: $0, in: "new")); " }.joined()
        let isChanged = columns.map { "old.\($0.column.quotedSQL) IS NOT new.\($0.column.quotedSQL)" }
        let remove = #"DELETE FROM "__file_uses" WHERE "table" = \#(table.quotedText) AND "object" = old."__rid"; "#
        func trigger(_ index: Int, when: String, body: String) -> Trigger {
            Trigger(
                name: names[index],
                sql: "CREATE TRIGGER \(names[index].quotedSQL) AFTER \(when) BEGIN \(body)END")
        }
        return [
            trigger(0, when: "INSERT ON \(table.quotedSQL) WHEN \(hasAny("new"))", body: inserts),
            trigger(
                1,
                when: """
                    UPDATE OF \(columns.map(\.column.quotedSQL).joined(separator: ", ")) ON \(table.quotedSQL) \
                    WHEN \(isChanged.joined(separator: " OR "))
                    """, body: remove + inserts),
            trigger(2, when: "DELETE ON \(table.quotedSQL) WHEN \(hasAny("old"))", body: remove),
        ]
    }

    private func hasAny(_ row: String) -> String {
        columns.map { column in
            let value = "\(row).\(column.column.quotedSQL)"
            return column.isList ? "ifnull(\(value), '[]') <> '[]'" : "\(value) IS NOT NULL"
        }.joined(separator: " OR ")
    }

    /// Returns the statement that records a column's files.
    ///
    /// - Parameters:
    ///   - row: The name of the row in the statement.
    ///   - rows: The table to which the row belongs. `nil` for the row of a trigger.
    private func insert(of column: AttachmentColumn, in row: String, from rows: String? = nil) -> String {
        let value = "\(row).\(column.column.quotedSQL)"
        let head = #"INSERT OR IGNORE INTO "__file_uses" ("file", "table", "object", "sent") "#
        let rest = #"\#(table.quotedText), \#(row)."__rid", \#(column.isSent ? 1 : 0)"#
        let sources = [rows, column.isList ? "json_each(\(value)) entry" : nil].compactMap(\.self)
        let from = sources.isEmpty ? "" : " FROM \(sources.joined(separator: ", "))"
        return column.isList
            ? "\(head)SELECT json_extract(entry.value, '$.id'), \(rest)\(from)"
            : "\(head)SELECT json_extract(\(value), '$.id'), \(rest)\(from) WHERE \(value) IS NOT NULL"
    }

    /// The statements that record the uses of all existing rows.
    var fill: [String] { columns.map { insert(of: $0, in: "t", from: "\(table.quotedSQL) t") } }
}
