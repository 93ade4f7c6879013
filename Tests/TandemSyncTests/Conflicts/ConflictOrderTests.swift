import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Two devices change one object. The result does not depend on whether a push or a pull finds the other change first
/// (FB 7, 8).
@Suite(.ownThreads) struct ConflictOrderTests {
    enum Scenario: CaseIterable, Sendable { case editMeetsEdit, deleteMeetsEdit, editMeetsDelete }
    enum Arrival: CaseIterable, Sendable { case pushFindsIt, pullBringsItFirst }

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
        for (scenario, end) in zip(Scenario.allCases, policy.ends) {
            for takesValues in [true, false] {
                let fixture = try SyncFixture(undeletesWithValues: takesValues)
                try fixture.sync.table(Card.self).setConflicts(policy.policy)
                let card = try await fixture.syncedCard()
                let outcome = try await conflict(fixture, card, scenario, arrival)
                let comment = Comment("\(scenario) \(takesValues)")
                let there = try fixture.served(card.serverID)
                #expect("\(outcome.name) \(Self.shown(there))" == end, comment)
                if outcome.isFinished {
                    #expect(try fixture.isLevel(), comment)
                } else {
                    let failed = try await fixture.sync.failedOperations()
                    #expect(failed.count == 1 && failed[0].isConflict, comment)
                    #expect(failed[0].isDeletedOnServer == (scenario == .editMeetsDelete), comment)
                    // No change is lost, and it is not sent again automatically.
                    fixture.remote.forgetRequests()
                    try await fixture.sync.push()
                    #expect(fixture.asked.isEmpty, comment)
                }
                #expect(try fixture.store.checkIntegrity() == [], comment)
            }
        }
    }

    private static func shown(_ item: RemoteItem?) -> String {
        guard let item, !item.isDeleted, case .integer(let points)? = item[member: "points"],
            case .text(let shop)? = item[member: "shop"]
        else { return "-" }
        return "\(points) \(shop)"
    }

    private func conflict(
        _ fixture: SyncFixture, _ card: Card, _ scenario: Scenario, _ arrival: Arrival
    ) async throws -> SyncResult.Outcome {
        let id = try #require(card.serverID)
        try await fixture.store.write { tx in
            if scenario == .deleteMeetsEdit {
                try tx.delete(Card.self, localID: card.localID)
            } else {
                try tx.update(Card.self, localID: card.localID) { $0.points = 2 }
            }
        }
        if scenario == .editMeetsDelete {
            fixture.remote.remove("Card", id: id)
        } else {
            fixture.remote.edit("Card", id: id) { item in
                item.set(.integer(3), of: "points")
                item.set(.text("Магнит"), of: "shop")
            }
        }
        if arrival == .pullBringsItFirst { try await fixture.receiveAll() }
        fixture.remote.forgetRequests()
        let result = try await fixture.sync.push()
        if arrival == .pullBringsItFirst {
            // No request is certain to fail.
            let writes = fixture.asked.filter { $0 != .find }
            #expect(result.entries[0].outcome.isFinished || writes.isEmpty)
            #expect(writes.count <= 2)
        }
        return result.entries[0].outcome
    }
}
