extension WriteTransaction {
    /// Finds the object with a local ID or a server ID. In a write from a server, the server ID takes precedence.
    func find(_ state: ObjectState, in table: TableLayout) throws -> Statement? {
        let statements = try connection.tableStatements(table)
        if origin == .server, let serverID = state.serverID {
            if let found = try find(serverID, in: table) { return found }
            // A local object whose insert was sent without a response is identified by its own ID.
            if let found = try statements.find(LocalID(serverID.rawValue)) {
                let own: ObjectState
                do {
                    defer { found.reset() }
                    own = try self.state(of: found, table)
                }
                if try mayBeOnServer(own, in: table) { return try statements.find(own.localID, rowID: own.rowID) }
            }
        }
        if let found = try statements.find(state.localID, rowID: state.rowID) {
            // If the server knows the object with this local ID by another server ID, it is another object.
            guard origin == .server, let serverID = state.serverID, let other = try found.optionalText(2),
                !ScalarText.isEqual(other, serverID.rawValue)
            else { return found }
            found.reset()
            return nil
        }
        if origin == .app, let serverID = state.serverID { return try find(serverID, in: table) }
        return nil
    }
}

extension ReadTransaction {
    func find(_ serverID: ServerID, in table: TableLayout) throws -> Statement? {
        try connection.tableStatements(table).find(serverID)
    }
}
