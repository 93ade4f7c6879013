import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Two devices change one object. The result is the same whether the push finds the other change or a pull fetches it
/// first (FB 7, 8).
@Suite(.ownThreads) struct ConflictOrderTests {
    enum Scenario: CaseIterable, Sendable { case editMeetsEdit, deleteMeetsEdit, editMeetsDelete }
    enum Arrival: CaseIterable, Sendable { case pushMeetsIt, pullBringsItFirst }

    struct Policy: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let policy: ConflictPolicy<Card>
        /// The ends of edit and edit, delete and edit, and edit and delete: the outcome and the server's final points,
        /// or `-` if it is deleted.
        let ends: [String]
    }

    // Here the points become 2, there 3, and the shop "Магнит". The local change is the older one.
    static let policies: [Policy] = [
        Policy(
            testDescription: "merge", policy: .merge(),
            ends: ["merged 2 Магнит", "conflict 3 Магнит", "conflict -"]),
        Policy(
            testDescription: "merge, theirs", policy: .merge(edits: .server, deletes: .server),
            ends: ["merged 3 Магнит", "tookServers 3 Магнит", "tookServers -"]),
        Policy(
            testDescription: "merge, edits win", policy: .merge(deletes: .editWins),
            ends: ["merged 2 Магнит", "tookServers 3 Магнит", "merged 2 Лента"]),
        Policy(
            testDescription: "merge, ours", policy: .merge(deletes: .client),
            ends: ["merged 2 Магнит", "merged -", "merged 2 Лента"]),
        Policy(
            testDescription: "client wins", policy: .clientWins,
            ends: ["merged 2 Магнит", "merged -", "merged 2 Лента"]),
        Policy(
            testDescription: "server wins", policy: .serverWins,
            ends: ["tookServers 3 Магнит", "tookServers 3 Магнит", "tookServers -"]),
        Policy(
            testDescription: "newest wins", policy: .newestWins,
            ends: ["tookServers 3 Магнит", "tookServers 3 Магнит", "tookServers -"]),
        Policy(
            testDescription: "report", policy: .report,
            ends: ["conflict 3 Магнит", "conflict 3 Магнит", "conflict -"]),
        Policy(
            testDescription: "the app, merge", policy: .resolve { _ in .merge },
            ends: ["merged 2 Магнит", "conflict 3 Магнит", "conflict -"]),
        Policy(
            testDescription: "the app, theirs", policy: .resolve { _ in .takeServers },
            ends: ["tookServers 3 Магнит", "tookServers 3 Магнит", "tookServers -"]),
        Policy(
            testDescription: "the app, later", policy: .resolve { _ in .later("Ask them.") },
            ends: ["conflict 3 Магнит", "conflict 3 Магнит", "conflict -"]),
        Policy(
            testDescription: "the app, throws", policy: .resolve { _ in throw RemoteFailure.Broken() },
            ends: ["conflict 3 Магнит", "conflict 3 Магнит", "conflict -"]),
        Policy(
            testDescription: "the app, delete", policy: .resolve { _ in .sendDelete },
            ends: ["merged -", "merged -", "tookServers -"]),
        Policy(
            testDescription: "the app, its own values",
            policy: .resolve { conflict in
                guard var card = conflict.local ?? conflict.server else { return .merge }
                card.points = (conflict.local?.points ?? 0) + (conflict.server?.points ?? 0) + 100
                return .send(card)
            }, ends: ["merged 105 Магнит", "merged 103 Магнит", "merged 102 Лента"]),
    ]

    @Test(arguments: policies, Arrival.allCases)
    func `the end follows from the policy, whatever the order`(policy: Policy, arrival: Arrival) async throws {
        for (meeting, end) in zip(Scenario.allCases, policy.ends) {
            for takesValues in [true, false] {
                let desk = try Desk(undeletesWithValues: takesValues)
                try desk.sync.table(Card.self).setConflicts(policy.policy)
                let card = try await desk.syncedCard()
                let outcome = try await meet(desk, card, meeting, arrival)
                let comment = Comment("\(meeting) \(takesValues)")
                let there = try desk.served(card.serverID)
                #expect("\(outcome.name) \(Self.shown(there))" == end, comment)
                if outcome.isSettled {
                    #expect(try desk.isLevel(), comment)
                } else {
                    let failed = try await desk.sync.failedOperations()
                    #expect(failed.count == 1 && failed[0].isConflict, comment)
                    #expect(failed[0].isDeletedOnServer == (meeting == .editMeetsDelete), comment)
                    // No change is lost, and it is not sent again automatically.
                    desk.remote.forgetRequests()
                    try await desk.sync.push()
                    #expect(desk.asked.isEmpty, comment)
                }
                #expect(try desk.store.checkIntegrity() == [], comment)
            }
        }
    }

    private static func shown(_ item: RemoteItem?) -> String {
        guard let item, !item.isDeleted, case .integer(let points)? = item[member: "points"],
            case .text(let shop)? = item[member: "shop"]
        else { return "-" }
        return "\(points) \(shop)"
    }

    private func meet(
        _ desk: Desk, _ card: Card, _ meeting: Scenario, _ arrival: Arrival
    ) async throws -> SyncResult.Outcome {
        let id = try #require(card.serverID)
        try await desk.store.write { tx in
            if meeting == .deleteMeetsEdit {
                try tx.delete(Card.self, localID: card.localID)
            } else {
                try tx.update(Card.self, localID: card.localID) { $0.points = 2 }
            }
        }
        if meeting == .editMeetsDelete {
            desk.remote.remove("Card", id: id)
        } else {
            desk.remote.edit("Card", id: id) { item in
                item.set(.integer(3), of: "points")
                item.set(.text("Магнит"), of: "shop")
            }
        }
        if arrival == .pullBringsItFirst { try await desk.receiveAll() }
        desk.remote.forgetRequests()
        let result = try await desk.sync.push()
        if arrival == .pullBringsItFirst {
            // No request is certain to fail.
            let writes = desk.asked.filter { $0 != .find }
            #expect(result.entries[0].outcome.isSettled || writes.isEmpty)
            #expect(writes.count <= 2)
        }
        return result.entries[0].outcome
    }
}
