import Tandem

/// The intermediate result of a pull.
struct PullTally: Sendable {
    /// The model of the items.
    let model: ModelDefinition
    var result = PullResult()
    private var refused: [ServerID: RefusedRow] = [:]
    private var ahead: Set<ServerID> = []

    init(_ model: ModelDefinition) {
        self.model = model
    }

    var hasRefused: Bool { !refused.isEmpty }

    mutating func record(_ receipt: ServerReceipt, of id: ServerID) {
        var refusal: RefusedRow?
        switch receipt {
        case .inserted: result.inserted += 1
        case .updated: result.updated += 1
        case .removed: result.deleted += 1
        case .unchanged, .unknownTombstone: result.unchanged += 1
        case .deferred: result.deferred += 1
        case .refused(let error):
            refusal = self.refusal(id, message: error.message, error: error)
        }
        if refusal != nil || hasRefused { refused[id] = refusal }
    }

    mutating func recordUnreadable(_ id: ServerID, message: String, error: (any Error)?) {
        refused[id] = refusal(id, message: message, error: error)
    }

    mutating func recordAhead(_ id: ServerID) { ahead.insert(id) }

    private func refusal(_ id: ServerID, message: String, error: (any Error)?) -> RefusedRow {
        RefusedRow(model: model.name, table: model.table, serverID: id, message: message, underlying: error)
    }

    /// Returns the final result, with the refused rows in the order of their IDs.
    func finished() -> PullResult {
        var result = result
        result.refusedRows = refused.values.sorted { $0.serverID.rawValue < $1.serverID.rawValue }
        result.rowsAheadOfClock = ahead.sorted()
        return result
    }
}
