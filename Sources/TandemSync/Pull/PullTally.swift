import Tandem

/// What a pull has done so far.
struct PullTally: Sendable {
    var result = PullResult()
    private var refused: [ServerID: RefusedRow] = [:]

    var hasRefused: Bool { !refused.isEmpty }

    mutating func note(_ receipt: ServerReceipt, of id: ServerID) {
        var refusal: RefusedRow?
        switch receipt {
        case .inserted: result.inserted += 1
        case .updated: result.updated += 1
        case .removed: result.deleted += 1
        case .unchanged, .unknownTombstone: result.unchanged += 1
        case .keptBeside: result.keptBeside += 1
        case .refused(let error):
            refusal = RefusedRow(serverID: id, message: error.message, underlying: error)
        }
        refused[id] = refusal
    }

    mutating func noteUnreadable(_ id: ServerID, _ message: String, _ error: (any Error)?) {
        refused[id] = RefusedRow(serverID: id, message: message, underlying: error)
    }

    /// The whole result, the refused rows in the order of their IDs.
    func finished() -> PullResult {
        var result = result
        result.refusedRows = refused.values.sorted { $0.serverID.rawValue < $1.serverID.rawValue }
        return result
    }
}
