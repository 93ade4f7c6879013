import DatasyncWire
import Foundation
import LocalStoreSupport
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// An error of a request contains the table and the address, and never a secret.
@Suite(.ownThreads) struct ErrorContextTests {
    /// An error with an address, as other code may throw it.
    struct TextualError: Error, CustomStringConvertible {
        var description: String { "https://ada:hunter2@shop.example?code=hunter2" }
    }

    /// A server whose address contains secrets, against the requirements.
    private struct Careless: ForwardingRemote {
        let base: any Remote

        func url(of table: RemoteTableName) -> String? {
            "https://ada:hunter2@shop.example:8443/tables/\(table)?code=hunter2#hunter2"
        }
    }

    enum Way: CaseIterable, Sendable {
        case push, pull, synchronize, find, objects, insert, update, undelete, takeServers
    }

    struct Failure: Sendable, CustomTestStringConvertible {
        let failure: RemoteFailure
        var testDescription: String { "\(failure)" }

        init(_ failure: RemoteFailure) { self.failure = failure }

        /// The number of the case. A new case must be among the tested failures.
        var number: Int {
            switch failure {
            case .notSent: 0
            case .lost: 1
            case .unauthenticated: 2
            case .conflict: 3
            case .gone: 4
            case .notFound: 5
            case .refused: 6
            case .later: 7
            case .invalidResponse: 8
            case .notEncodable: 9
            case .file: 10
            case .outdatedPosition: 11
            }
        }
    }

    private static let all: [RemoteFailure] = [
        .notSent(TextualError()), .lost(TextualError()), .unauthenticated(status: 401, underlying: TextualError()),
        .conflict(status: 409, item: nil), .gone, .notFound, .refused(status: 403, message: "no"),
        .outdatedPosition(status: 400, message: "Invalid value for _since"),
        .later(status: 503, retryAfter: nil), .later(status: 429, retryAfter: .seconds(3600)),
        .invalidResponse(
            InvalidResponse(
                .notJSON, message: "It is HTML.", table: "Card",
                url: "https://ada:hunter2@shop.example:8443/tables/Card?code=hunter2", status: 200)),
        .invalidResponse(InvalidResponse(.notJSON, message: "It is HTML.", table: "Card", url: "", status: 200)),
        .notEncodable(RequestEncodingError(.value, message: "It is not a valid number.")),
        .notEncodable(RequestEncodingError(.filter, message: "It can't be asked.")),
        .file(.unreadable(TextualError())),
    ]
    static let failures = all.map(Failure.init)

    @Test func `each failure is tested`() {
        #expect(Set(Self.failures.map(\.number)) == Set(0...11))
    }

    private func check(_ error: (any Error)?, _ place: String) throws {
        let error = try #require(error as? SyncError, "\(place): \(error as Any)")
        #expect(error.table == "Card", "\(place)")
        #expect(error.url == "https://shop.example:8443/tables/Card", "\(place)")
        #expect(!error.message.isEmpty && !error.description.contains("hunter2"), "\(place): \(error)")
        #expect(error.description.contains("https://shop.example:8443/tables/Card"), "\(place): \(error)")
        #expect(error.description.hasPrefix("Card"), "\(place): \(error)")
    }

    /// Returns the error that a body throws.
    private func error(_ body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    private func context(_ fixture: SyncFixture) throws -> SyncContext {
        var options = SyncContext.Options()
        options.clock = JumpingClock(fixture.clock)
        options.retry.tries = 1
        return SyncContext(store: fixture.store, remote: Careless(base: fixture.remote), options: options)
    }

    @Test(arguments: failures, Way.allCases)
    func `a failed request reports its table and address`(failure: Failure, way: Way) async throws {
        let fixture = try SyncFixture()
        let sync = try context(fixture)
        let cards = try sync.remoteTable(Card.self)
        let card = try await fixture.syncedCard()
        let match = RequestMatch { $0.table == "Card" && $0.kind != .find }
        switch way {
        case .push:
            try await fixture.store.write { _ = try $0.insert(Card(shop: "Магнит", barcode: "2")) }
            fixture.remote.next(.fail(failure.failure), on: match)
            let result = try await sync.attemptPush()
            try check(result.entries.first?.outcome.error, "operation")
            if let stop = result.stoppedBy { try check(stop, "push") }
            #expect(try await sync.status().lastError?.contains("hunter2") != true)
        case .pull:
            fixture.remote.next(.fail(failure.failure), on: match)
            try check(await error { try await sync.pull(Card.self, queryID: "cards") }, "pull")
            #expect(try await sync.status().lastError?.contains("https://shop.example:8443/tables/Card") == true)
        case .synchronize:
            fixture.remote.next(.fail(failure.failure), on: match)
            try check(
                await error {
                    let result = try await sync.synchronize([PullQuery(Card.self, queryID: "cards")])
                    _ = try #require(result.pulls.first).outcome.get()
                }, "synchronize")
        case .find:
            fixture.remote.next(.fail(failure.failure), on: .find)
            try check(await error { _ = try await cards.find("a") }, "find")
        case .objects:
            fixture.remote.next(.fail(failure.failure), on: match)
            try check(await error { _ = try await cards.objects().all() }, "objects")
        case .insert:
            fixture.remote.next(.fail(failure.failure), on: match)
            try check(await error { try await cards.insert(Card(shop: "Магнит", barcode: "2")) }, "insert")
        case .update:
            fixture.remote.next(.fail(failure.failure), on: match)
            try check(await error { try await cards.update(card) }, "update")
        case .undelete:
            fixture.remote.next(.fail(failure.failure), on: match)
            try check(await error { try await cards.undelete(card) }, "undelete")
        case .takeServers:
            try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
            fixture.remote.next(.fail(.refused(status: 403, message: "no")), on: match)
            let id = try #require(try await sync.push().failedOperations.first?.id)
            fixture.remote.next(.fail(failure.failure), on: .find)
            try check(await error { try await sync.takeServers(id) }, "takeServers")
        }
    }

    /// The response is invalid, and the remote has not failed.
    @Test func `an invalid response reports its table and address`() async throws {
        let fixture = try SyncFixture()
        let sync = try context(fixture)
        let cards = try sync.remoteTable(Card.self)
        let card = try await fixture.syncedCard()
        let id = try #require(card.serverID)
        fixture.remote.edit("Card", id: id) { $0.set(.text("many"), of: "points") }
        for queryID in ["cards", nil] {
            let refused = try await sync.pull(Card.self, queryID: queryID).refusedRows
            try check(refused.first?.underlying, "pull \(queryID ?? "-")")
        }
        try check(await error { _ = try await cards.find(id) }, "find")
        // A push receives it.
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.nickname = "н" } }
        try check(try await sync.push().entries.first?.outcome.error, "push")
        // A new object lacks a required value.
        fixture.remote.edit("Card", id: "b") { $0.members = [] }
        fixture.remote.remove("Card", id: id)
        try check(try await sync.pull(Card.self).refusedRows.first { $0.serverID == "b" }?.underlying, "missing")
        try check(await error { _ = try await cards.find("b") }, "missing, directly")
    }

    @Test func `an endless response reports its server`() async throws {
        let fixture = try SyncFixture()
        for code in ["1", "2", "3"] { _ = try await fixture.syncedCard(code) }
        var options = SyncContext.Options()
        (options.pageSize, options.pageLimit) = (1, 1)
        let sync = SyncContext(store: fixture.store, remote: Careless(base: fixture.remote), options: options)
        try check(await error { try await sync.pull(Card.self, queryID: "cards") }, "pull")
        let cards = try sync.remoteTable(Card.self)
        try check(await error { _ = try await cards.objects().all() }, "objects")
    }

    /// The server changes the object before each request, and the conflict is left to the user.
    @Test func `a conflict reports its table and address`() async throws {
        let fixture = try SyncFixture()
        let sync = try context(fixture)
        let card = try await fixture.syncedCard()
        let id = try #require(card.serverID)
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        for number in 10..<20 {
            fixture.remote.next(.conflict { $0.set(.integer(Int64(number)), of: "points") }, on: .update)
        }
        try check(try await sync.push().entries.first?.outcome.error, "as fast")
        try sync.table(Card.self).setConflicts(.report)
        fixture.remote.edit("Card", id: id) { $0.set(.integer(30), of: "points") }
        try check(try await sync.push().entries.first?.outcome.error, "report")
    }

    @Test(arguments: [
        ("https://shop.example/tables/card", "https://shop.example/tables/card"),
        ("https://ada:p@ss@shop.example:8443/x@y?code=1#2", "https://shop.example:8443/x@y"),
        ("https://shop.example?code=a/b@c", "https://shop.example"), ("ada@shop.example/x", "shop.example/x"),
        ("shelf://here/Card", "shelf://here/Card"), ("", ""),
    ])
    func `an address is shown without secrets`(address: String, shown: String) {
        #expect(SyncError.shown(address) == shown)
    }

    @Test(arguments: Dialect.both)
    func `the remotes of this package report their tables`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (_, sync) = try world.device()
        let name = dialect == .datasync ? "card" : "Card"
        world.next(.get, .status(403))
        let failed = try #require(await error { try await sync.pull(Card.self) } as? SyncError)
        #expect(failed.code == .refused && failed.table == "Card")
        #expect(failed.url == "https://shop.example/tables/\(name)")
        #expect(ScriptedRemote().url(of: "Card") == "https://scripted.example/tables/Card")
    }
}
