extension WriteTransaction {
    /// Finds the object with a local ID, or else the one with a server ID.
    func find(_ state: ObjectState, in table: TableLayout) throws -> Statement? {
        if let found = try connection.tableStatements(table).find(state.localID, rowID: state.rowID) { return found }
        guard let serverID = state.serverID else { return nil }
        return try find(serverID, in: table)
    }
}

extension ReadTransaction {
    func find(_ serverID: ServerID, in table: TableLayout) throws -> Statement? {
        try connection.tableStatements(table).find(serverID)
    }
}
