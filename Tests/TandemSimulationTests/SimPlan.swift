import DatasyncWire
import Foundation
import Tandem
import TandemSync
import TandemTesting

/// What a seed decides once for a whole history.
struct SimPlan: Sendable, CustomStringConvertible {
    enum Policy: String, CaseIterable, Sendable { case merge, client, server, newest, report }

    var isDatasync: Bool
    var devices: Int
    var acts: Int
    /// At 1 the seed decides everything; with more the order of messages is the scheduler's.
    var inFlight: Int
    var pageSize: Int
    /// Whether the server makes the IDs.
    var hasServerIDs: Bool
    var policy: Policy
    var storm: SimFaults
    /// How far each device's clock is off, in seconds.
    var skews: [Double]

    /// - Parameter isSoaking: Whether a history may be one that its seed alone does not decide.
    init(_ random: inout SeededGenerator, isSoaking: Bool) {
        isDatasync = Bool.random(using: &random)
        devices = Int.random(in: 1...3, using: &random)
        acts = Int.random(in: 5...60, using: &random)
        inFlight = random.next() % 4 == 0 && isSoaking ? 8 : 1
        pageSize = [1, 2, 3, 7, 100].randomElement(using: &random) ?? 1
        hasServerIDs = random.next() % 4 == 0
        policy = Policy.allCases.randomElement(using: &random) ?? .merge
        storm = .stormy(&random)
        skews = (0..<devices).map { _ in [0, 0, 3, -86_400, 86_400].randomElement(using: &random) ?? 0 }
    }

    var dialect: Dialect { isDatasync ? .datasync : .azureMobileApps }

    var description: String {
        """
        \(isDatasync ? "datasync" : "azure"), \(devices) devices, \(acts) acts, \(inFlight) in flight, pages of \
        \(pageSize), IDs of the \(hasServerIDs ? "server" : "client"), \(policy), clocks \(skews), faults \
        \(storm.weights.first?.weight ?? 0)
        """
    }
}
