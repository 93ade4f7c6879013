extension IntegrityCheck {
    /// Checks that the data of sync belongs to tables that are sent, and to existing objects.
    func checkServerSide() throws {
        try each("SELECT \"table\", \"serverID\", \"object\", \"deleted\", \"reason\" FROM \"__server_items\"") { row in
            let name = "The deferred item of \(try row.text(0)) \(try row.text(1))"
            try checkOwner(try row.text(0), rowID: row.isNull(2) ? nil : row.integer(2), name: name)
            if ![0, 1].contains(row.integer(3)) || DeferredItem.Reason(rawValue: Int(row.integer(4))) == nil {
                report("\(name) has no valid reason.")
            }
        }
        try each("SELECT \"table\", \"object\", length(\"members\") FROM \"__server_extras\"") { row in
            let name = "The extra data of \(try row.text(0)), row \(row.integer(1)),"
            try checkOwner(try row.text(0), rowID: row.integer(1), name: name)
            if row.integer(2) == 0 { report("\(name) is empty.") }
        }
        try each("SELECT \"table\", \"queryID\", length(\"digest\"), \"settled\" FROM \"__sync_tokens\"") { row in
            let name = "The delta token of \(try row.text(0)), \(try row.text(1)),"
            try checkOwner(try row.text(0), rowID: nil, name: name)
            if row.integer(2) == 0 || ![0, 1].contains(row.integer(3)) { report("\(name) is damaged.") }
        }
    }

    private func checkOwner(_ tableName: String, rowID: Int64?, name: String) throws {
        // If a store is opened without some of its models, not all models are known.
        guard let table = schema.table(named: tableName) else { return }
        if table.isLocalOnly { report("\(name) belongs to a model that is not sent.") }
        guard let rowID else { return }
        let found = try connection.value(
            "SELECT 1 FROM \(table.quotedTable) WHERE \"__rid\" = ?", binding: [.integer(rowID)])
        if found == nil { report("\(name) belongs to an object that does not exist.") }
    }
}
