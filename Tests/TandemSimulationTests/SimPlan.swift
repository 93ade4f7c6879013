import DatasyncWire
import Foundation
import Tandem
import TandemSync
import TandemTesting

/// The settings of a whole history, chosen by the seed.
struct SimPlan: Sendable, CustomStringConvertible {
    enum Policy: String, CaseIterable, Sendable { case merge, client, server, newest, report, ask }

    var isDatasync: Bool
    var devices: Int
    var acts: Int
    /// The maximum time between acts in milliseconds. A server may commit late within some seconds.
    var pace: Int
    /// The number of objects above which no device inserts more. Few objects cause many conflicts.
    var crowd: Int
    /// Whether users often delete and restore objects.
    var isFickle: Bool
    var inFlight: Int
    /// The maximum number of writes in a batch. The seed does not choose it.
    var batchLimit = 1
    var pageSize: Int
    /// Whether the server makes the IDs.
    var hasServerIDs: Bool
    var policy: Policy
    var storm: SimFaults
    /// The number of processes, of a thousand, that are killed during a sync.
    var deaths: UInt64 = 250
    /// The error of each device's clock, in seconds.
    var skews: [Double]

    init(_ random: inout SeededGenerator) {
        isDatasync = Bool.random(using: &random)
        devices = [1, 1, 2, 2, 2, 3, 3, 4].randomElement(using: &random) ?? 2
        acts = Int.random(in: 5...60, using: &random)
        pace = [4_000, 4_000, 60_000].randomElement(using: &random) ?? 4_000
        crowd = [2, 5, 15, 100].randomElement(using: &random) ?? 100
        isFickle = random.next() % 4 == 0
        inFlight = [1, 1, 2, 8, 8].randomElement(using: &random) ?? 8
        pageSize = [1, 2, 3, 7, 100, 100].randomElement(using: &random) ?? 1
        hasServerIDs = random.next() % 4 == 0
        policy = Policy.allCases.randomElement(using: &random) ?? .merge
        storm = .random(&random)
        skews = (0..<devices).map { _ in [0, 0, 3, -86_400, 86_400].randomElement(using: &random) ?? 0 }
    }

    var dialect: Dialect { isDatasync ? .datasync : .azureMobileApps }

    var description: String {
        """
        \(isDatasync ? "datasync" : "azure"), \(devices) devices, \(acts) acts in steps of \(pace) ms, \
        \(crowd) objects, fickle \(isFickle), \(inFlight) in flight, batches of \(batchLimit), \
        pages of \(pageSize), IDs of the \(hasServerIDs ? "server" : "client"), \(policy), clocks \(skews), faults \
        \(storm.weights.first?.weight ?? 0)
        """
    }
}
