extension String {
    /// The name of a table, a column or an index, quoted for SQL.
    var quotedSQL: String {
        utf8.contains(UInt8(ascii: "\"")) ? "\"\(replacing("\"", with: "\"\""))\"" : "\"\(self)\""
    }

    /// A text as a literal of SQL.
    var quotedText: String { "'\(replacing("'", with: "''"))'" }
}
