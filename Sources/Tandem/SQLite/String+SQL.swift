extension String {
    /// The name of a table, a column or an index, quoted for SQL.
    var quotedSQL: String {
        utf8.contains(UInt8(ascii: "\"")) ? "\"\(replacing("\"", with: "\"\""))\"" : "\"\(self)\""
    }

    /// The text as an SQL literal.
    var quotedText: String { "'\(replacing("'", with: "''"))'" }
}
