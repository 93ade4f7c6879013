@testable import Tandem

/// Seeds of histories that failed once. If the generation of histories changes, the seeds give other histories.
enum LiveOracleCorpus {
    static let seeds: [UInt64] = [
        // A least value that was replaced by greater ones.
        4012, 9000,
        // A row number that one object leaves and another takes, in a reloaded list.
        11_000,
        // An object that changes its section but not its index.
        6013,
        // A commit that was read together with an earlier quiet one.
        20_974, 22_859,
        // Row numbers that a quiet write reassigned.
        60_860,
        // An external commit that came when a reading began.
        61_632,
        // An object that is deleted and inserted again unchanged under another row number.
        561_355,
        // A quiet write that a later commit undoes, read together with it.
        117_027,
        // A quiet write that gives an object the row number of one whose deletion is not delivered yet.
        413_265,
        // A quiet write that replaces an object whose insertion is not delivered yet.
        889_472,
        // 0 and -0 as the greatest value.
        100_425,
        // Faults of the test itself.
        1025, 2001, 8011, 14_000, 23_521, 40_611, 40_989, 62_828, 101_192, 139_136, 173_107, 200_257, 525_963,
        712_923,
    ]

    /// Returns a number shortly before the first history that showed a planted fault when this was written.
    static func firstHistory(showing fault: LiveFault) -> Int {
        switch fault {
        case .joinedRowIgnored: 299
        case .syncStateIgnored: 157
        case .silentChangeDelivered: 111
        case .quietWriteDelivered, .bulkForgotten: 76
        case .lateSubscriberForgotten: 80
        case .staleExtreme: 38
        default: 0
        }
    }
}
