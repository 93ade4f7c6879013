import Tandem
import TandemSync

extension MemoryTransaction {
    func removeSynced(_ rows: [Int64], in table: String) throws -> Int {
        try removeSynced(rows, in: table, leavingKept: false)
    }

    func removeUnlisted(_ rows: [Int64], in table: String) throws -> Int {
        try removeSynced(rows, in: table, leavingKept: true)
    }

    private func removeSynced(_ rows: [Int64], in table: String, leavingKept: Bool) throws -> Int {
        _ = try model(table)
        return try together {
            var count = 0
            for row in rows {
                guard let object = state.object(MemoryKey(table: table, row: row)), let serverID = object.serverID,
                    !object.isDeleted, state.operation(of: object) == nil
                else { continue }
                if !leavingKept { dropDeferred(of: object, serverID, in: table) }
                if try delete(object.localID, in: table, .server) { count += 1 }
            }
            return count
        }
    }

    func dropOperations(in tables: [String], where filter: LocalFilter?) throws -> Int {
        let models = try tables.map { try model($0) }
        return try together {
            var count = 0
            // A delete by the app's rules may change another object, which then has an operation.
            while true {
                let rows = try models.map { try keysWithOperation(in: $0, where: filter) }
                guard rows.contains(where: { !$0.isEmpty }) else { return count }
                let before = count
                var denial: TandemError?
                // Objects known to the server first, so that their deletion does not change their holders. The others
                // newest first, because newer objects refer to older ones.
                for known in [true, false] {
                    for row in rows.flatMap({ known ? $0 : $0.reversed() }) {
                        do {
                            if try together({ try giveUp(row, ifKnown: known) }) { count += 1 }
                        } catch let error as TandemError where error.code == .deleteDenied {
                            // The object that denies may be dropped later in this loop.
                            denial = error
                        }
                    }
                }
                if count == before, let denial { throw denial }
            }
        }
    }

    private func keysWithOperation(in model: MemoryModel, where filter: LocalFilter?) throws -> [MemoryKey] {
        try state.queue.filter { $0.object.table == model.definition.table }.compactMap { state.object($0.object) }
            .filter { try passes($0, filter, model) }.map(\.key).sorted { $0.row < $1.row }
    }

    private func giveUp(_ key: MemoryKey, ifKnown: Bool) throws -> Bool {
        guard let object = state.object(key), (object.serverID != nil || object.isDeleted) == ifKnown,
            let operation = state.operation(of: object)
        else { return false }
        dropDeferred(of: object, object.serverID, in: object.table)
        drop(operation)
        if ifKnown {
            erase(object)
            try detachHolders(of: object.localID, in: object.table, as: object.serverID)
        } else {
            _ = try delete(object.localID, in: object.table, .app)
        }
        return true
    }
}
