import BigInt
import DatasyncWire
import Foundation
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The transfer of a value of every property type to another device.
///
/// The received value is equal in every bit. The server between the devices has production logic.
@Suite(.ownThreads) struct EveryTypeTests {
    /// A dialect, and whether its server accepts arrays and objects.
    enum Tongue: CaseIterable, Sendable {
        case azure, datasync, datasyncNested

        var dialect: Dialect {
            var dialect = self == .azure ? Dialect.azureMobileApps : .datasync
            dialect.format.nestedJSON = self == .datasyncNested
            return dialect
        }
    }

    private struct Bench {
        let world: SyncWorld
        let tongue: Tongue

        init(_ tongue: Tongue) throws {
            self.tongue = tongue
            world = try SyncWorld(tongue == .azure ? .azureMobileApps : .datasync)
        }

        func device() throws -> (Store, SyncContext) {
            let store = try Store(inMemoryModels: [AllTypes.self, Friend.self])
            let remote = DatasyncRemote(
                ServerAddress("https://shop.example")!, dialect: tongue.dialect, over: world.transport)
            var options = SyncContext.Options()
            options.clock = JumpingClock(world.clock)
            // The order of the rows decides which columns one of the servers makes.
            options.inFlight = 1
            return (store, SyncContext(store: store, remote: remote, options: options))
        }
    }

    /// The stored values of all objects, which are compared bit by bit.
    private func values(_ store: Store) throws -> [LocalID: [String: StorageValue]] {
        try store.objects(AllTypes.self).all().reduce(into: [:]) { $0[$1.localID] = ModelValues.values(of: $1) }
    }

    private func pull(_ sync: SyncContext) async throws -> SyncResult {
        try await sync.pull(Friend.self, queryID: "friends")
        return try await sync.pull(AllTypes.self, queryID: "all")
    }

    private func isSame(
        _ here: [LocalID: [String: StorageValue]], _ there: [LocalID: [String: StorageValue]], leaving: Set<String> = []
    ) {
        #expect(Set(here.keys) == Set(there.keys))
        for (id, values) in here {
            for (name, value) in values where !leaving.contains(name) {
                #expect(there[id]?[name] == value, "\(name)")
            }
        }
    }

    @Test(arguments: Tongue.allCases)
    func `every type survives the round trip`(tongue: Tongue) async throws {
        let bench = try Bench(tongue)
        let (store, sync) = try bench.device()
        try await store.write { tx in
            let friends = try ["Анна", "Борис"].map { try tx.insert(Friend(name: $0)) }
            // A dialect's server makes columns from the first values: see `a number column rounds values beyond 2 to
            // the power of 53`.
            for all in [AllTypes.largest(friends), .smallest(friends), .ordinary(friends), AllTypes()] {
                try tx.insert(all)
            }
        }
        let sent = try values(store)
        #expect(sent.count == 4 && sent.allSatisfy { $1.count == AllTypes.__definition.properties.count })
        let result = try await sync.push()
        #expect(result.isComplete, "\(result.entries.compactMap(\.outcome.error))")
        // The server's response equals the sent values.
        isSame(sent, try values(store))

        let (other, otherSync) = try bench.device()
        #expect(try await pull(otherSync).inserted == 4)
        isSame(sent, try values(other))

        // Nothing is left to send.
        bench.world.clock.advance(by: 60)
        let rows = try bench.world.live("alltypes")
        for sync in [sync, otherSync, sync] {
            #expect(try await sync.push().entries.isEmpty)
            #expect(try await pull(sync).changes == 0)
        }
        #expect(try bench.world.live("alltypes") == rows)

        // The other device edits one property. The rest comes back unchanged, even if rows are replaced.
        try await other.write { tx in
            for all in try tx.objects(AllTypes.self).all() {
                try tx.update(AllTypes.self, localID: all.localID) { $0.mark = 7 }
            }
        }
        #expect(try await otherSync.push().isComplete)
        #expect(try await pull(sync).updated == 4)
        for store in [store, other] { isSame(sent, try values(store), leaving: ["mark"]) }
        #expect(try await store.objects(AllTypes.self).all().map(\.mark) == [7, 7, 7, 7])
        for (before, after) in zip(rows, try bench.world.live("alltypes")) {
            for (name, value) in before.members.members where name != "mark" {
                #expect(after.members[name] == value, "\(name)")
            }
        }
        for store in [store, other] {
            #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
        }
    }

    /// Only in a number property, and only for a JavaScript server: in a collection it is part of a text.
    @Test(arguments: Tongue.allCases)
    func `the sign of zero is kept only by some servers`(tongue: Tongue) async throws {
        let bench = try Bench(tongue)
        let (store, sync) = try bench.device()
        var all = AllTypes()
        (all.double, all.float, all.maybeDouble, all.maybeFloat) = (-0.0, -0.0, -0.0, -0.0)
        all.doubles = [-0.0]
        let negative = all
        try await store.write { _ = try $0.insert(negative) }
        #expect(try await sync.push().isComplete)
        let (other, otherSync) = try bench.device()
        #expect(try await pull(otherSync).inserted == 1)
        for store in [store, other] {
            let back = try #require(try await store.objects(AllTypes.self).first())
            let isKept = tongue != .azure
            #expect(back.double.sign == (isKept ? .minus : .plus) && back.float.sign == (isKept ? .minus : .plus))
            #expect(back.maybeDouble?.sign == (isKept ? .minus : .plus))
            #expect(back.maybeFloat?.sign == (isKept ? .minus : .plus))
            #expect(back.double == 0 && back.float == 0 && back.doubles[0].sign == .minus)
        }
        bench.world.clock.advance(by: 60)
        #expect(try await sync.push().entries.isEmpty)
        #expect(try await pull(sync).changes == 0)
    }

    /// A date has the server's milliseconds after its response, here and there.
    @Test(arguments: Tongue.allCases)
    func `a date is truncated to the server's precision`(tongue: Tongue) async throws {
        let bench = try Bench(tongue)
        let (store, sync) = try bench.device()
        let (exact, cut) = (1_795_230_874.003_987, 1_795_230_874.003)
        var all = AllTypes()
        all.date = Date(timeIntervalSince1970: exact)
        (all.maybeDate, all.dates, all.dateMap) = (all.date, [all.date], ["": all.date])
        let precise = all
        try await store.write { _ = try $0.insert(precise) }
        #expect(try await sync.push().isComplete)
        let (other, otherSync) = try bench.device()
        #expect(try await pull(otherSync).inserted == 1)
        for store in [store, other] {
            let back = try #require(try await store.objects(AllTypes.self).first())
            for date in [back.date, back.maybeDate, back.dates.first, back.dateMap[""]] {
                #expect(abs(try #require(date).timeIntervalSince1970 - cut) < 1e-6)
            }
        }
        isSame(try values(store), try values(other))
        bench.world.clock.advance(by: 60)
        #expect(try await sync.push().entries.isEmpty)
        #expect(try await pull(sync).changes == 0)
    }

    /// A value without a wire form is an error of its object, and is not rounded silently.
    @Test(arguments: Tongue.allCases)
    func `a value without a wire form is reported by its property's name`(tongue: Tongue) async throws {
        let wrong: [(String, @Sendable (inout AllTypes) -> Void)] = [
            ("double", { $0.double = .nan }), ("double", { $0.double = .infinity }), ("float", { $0.float = .nan }),
            ("doubles", { $0.doubles = [.nan] }), ("date", { $0.date = Date(timeIntervalSinceReferenceDate: 1e12) }),
            ("dates", { $0.dates = [Date(timeIntervalSinceReferenceDate: -1e12)] }),
            ("decimal", { $0.decimal = .nan }), ("decimals", { $0.decimals = [.nan] }),
            ("url", { $0.url = URL(string: "a", relativeTo: URL(string: "https://x.example")) ?? $0.url }),
        ]
        for (property, change) in wrong {
            let bench = try Bench(tongue)
            let (store, sync) = try bench.device()
            var all = AllTypes()
            change(&all)
            let bad = all
            try await store.write { tx in
                try tx.insert(bad)
                try tx.insert(AllTypes())
            }
            let result = try await sync.push()
            #expect(result.entries.map(\.outcome.name) == ["refused", "done"], "\(property)")
            let error = try #require(result.entries[0].outcome.error)
            #expect(error.code == .notEncodable && error.table == "AllTypes" && error.property == property)
            #expect(try bench.world.live("alltypes").count == 1)
        }
    }

    /// A limit of Azure Mobile Apps' tables: a column made for a number makes a number of each text, and a number there
    /// is a `Double`.
    @Test func `a number column rounds values beyond 2 to the power of 53`() async throws {
        let bench = try Bench(.azure)
        let (store, sync) = try bench.device()
        let id = try await store.write { tx in
            try tx.insert(AllTypes())
            var all = AllTypes()
            all.int64 = (1 << 53) + 1
            return try tx.insert(all)
        }.localID
        #expect(try await sync.push().isComplete)
        #expect(try store.object(ofType: AllTypes.self, forPrimaryKey: id)?.int64 == 1 << 53)
    }
}
