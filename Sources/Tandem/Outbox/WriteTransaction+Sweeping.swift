extension ReadTransaction {
    package func forEachSyncedRow(in table: String, where filter: PredicateNode?, _ body: (Int64) -> Void) throws {
        fatalError("PULL")
    }
}

extension WriteTransaction {
    package func removeSynced(_ rows: [Int64], in table: String) throws -> Int {
        fatalError("PULL")
    }

    package func dropOperations(in table: String, where filter: PredicateNode?) throws -> Int {
        fatalError("PULL")
    }
}
