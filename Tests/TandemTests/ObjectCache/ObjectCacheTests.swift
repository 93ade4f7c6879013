import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Reads of objects by their IDs that are served from memory.
@Suite(.ownThreads) struct ObjectCacheTests {
    private struct Undone: Error {}

    private func withBadge<T>(
        _ kind: StoreKind, configuration: Store.Configuration = Store.Configuration(),
        body: (Store, LocalID) throws -> T
    ) throws -> T {
        try kind.withStore(Badge.self, Card.self, Person.self, configuration: configuration) { store in
            let badge = try store.write { tx in try tx.insert(Badge(name: "one")) }
            return try body(store, badge.localID)
        }
    }

    private func name(_ store: Store, _ id: LocalID) throws -> String? {
        try store.object(ofType: Badge.self, forPrimaryKey: id)?.name
    }

    // MARK: Reads from memory

    @Test(arguments: StoreKind.allCases)
    func `object that was read twice is served from memory by single calls, blocks and references`(
        kind: StoreKind
    ) throws {
        try withBadge(kind) { store, id in
            #expect(store.objectCache?.count == 0)
            _ = try store.object(ofType: Badge.self, forPrimaryKey: id)
            #expect(store.objectCache?.count == 0)
            var badge = try store.cache(Badge.self, id)
            // The database does not have this value.
            badge.name = "planted"
            try store.plant(badge)
            #expect(try name(store, id) == "planted")
            #expect(try store.object(badge.reference)?.name == "planted")
            #expect(try store.objects([badge.reference, badge.reference]).map(\.name) == ["planted", "planted"])
            try store.read { tx in
                let found = try tx.object(ofType: Badge.self, forPrimaryKey: id)
                #expect(found?.name == "planted")
                #expect(try tx.object(badge.reference)?.name == "planted")
                #expect(try tx.objects([badge.reference]).map(\.name) == ["planted"])
                #expect(try store.object(badge.reference)?.name == "planted")
            }
            // Queries do not use the cache.
            #expect(try store.objects(Badge.self).all().map(\.name) == ["one"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `planted object is found by the comparison with the stored rows`(kind: StoreKind) throws {
        try withBadge(kind) { store, id in
            var badge = try store.cache(Badge.self, id)
            #expect(try store.cacheProblems(Badge.self, [id]) == [])
            badge.name = "planted"
            try store.plant(badge)
            let problems = try store.cacheProblems(Badge.self, [id])
            #expect(!problems.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `asynchronous read is served from memory`(kind: StoreKind) async throws {
        try await kind.withStore(Badge.self) { store in
            let badge = try await store.write { tx in try tx.insert(Badge(name: "one")) }
            try store.cache(Badge.self, badge.localID)
            var changed = badge
            changed.name = "planted"
            try store.plant(changed)
            let name = try await store.read { try $0.object(ofType: Badge.self, forPrimaryKey: badge.localID)?.name }
            #expect(name == "planted")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `list of references is read in its order without missing objects`(kind: StoreKind) throws {
        try kind.withStore(Badge.self) { store in
            let badges = try store.write { tx in try (0..<5).map { try tx.insert(Badge(name: "\($0)")) } }
            let references = badges.map(\.reference) + [Reference(localID: "missing"), badges[1].reference]
            let expected = ["0", "1", "2", "3", "4", "1"]
            // Some objects are in memory, then all but the missing one, then all.
            try store.cache(Badge.self, badges[2].localID)
            for _ in 0..<3 { #expect(try store.objects(references).map(\.name) == expected) }
            for _ in 0..<3 { #expect(try store.objects(badges.map(\.reference)).map(\.name).count == 5) }
            try store.write { tx in _ = try tx.delete(badges[1]) }
            #expect(try store.objects(references).map(\.name) == ["0", "2", "3", "4"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `loaded references are served from memory`(kind: StoreKind) throws {
        try kind.withStore(Badge.self, Card.self, Person.self) { store in
            var badge = try store.write { tx in
                let badge = try tx.insert(Badge(name: "one"))
                try tx.insert(Card(shop: "Лента", barcode: "1", badges: [badge.reference]))
                return badge
            }
            try store.cache(Badge.self, badge.localID)
            badge.name = "planted"
            try store.plant(badge)
            let loaded = try store.objects(Card.self).with(\.badges).all()
            #expect(loaded.map { $0.1.map(\.name) } == [["planted"]])
        }
    }

    // MARK: Commits

    @Test(arguments: StoreKind.allCases)
    func `commit removes the changed object and no other`(kind: StoreKind) throws {
        try kind.withStore(Badge.self) { store in
            let badges = try store.write { tx in try (0..<3).map { try tx.insert(Badge(name: "\($0)")) } }
            for badge in badges { try store.cache(Badge.self, badge.localID) }
            try store.write { tx in try tx.update(Badge.self, localID: badges[1].localID) { $0.name = "changed" } }
            #expect(badges.map { store.isCached(Badge.self, $0.localID) } == [true, false, true])
            #expect(try name(store, badges[1].localID) == "changed")
            // It was read before, so that one read is enough.
            #expect(store.isCached(Badge.self, badges[1].localID))
            #expect(try name(store, badges[1].localID) == "changed")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `write without changes keeps all objects`(kind: StoreKind) throws {
        try withBadge(kind) { store, id in
            try store.cache(Badge.self, id)
            try store.write { _ in }
            #expect(store.isCached(Badge.self, id))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `commit without a record of its rows removes all objects`(kind: StoreKind) throws {
        try withBadge(kind) { store, id in
            try store.cache(Badge.self, id)
            try store.writer.queue.unsafeReentrantWrite { _ in
                try store.writer.connection.execute("UPDATE \"Badge\" SET \"name\" = 'two'")
            }
            #expect(!store.isCached(Badge.self, id))
            #expect(try name(store, id) == "two")
            // The next recorded commit continues from a known state.
            try store.write { tx in _ = try tx.insert(Badge(name: "other")) }
            try store.cache(Badge.self, id)
            #expect(try name(store, id) == "two")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `delete of a whole table removes its objects`(kind: StoreKind) throws {
        try withBadge(kind) { store, id in
            try store.cache(Badge.self, id)
            try store.write { tx in try tx.connection.execute("DELETE FROM \"Badge\"") }
            #expect(try name(store, id) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `very large commit removes all objects`(kind: StoreKind) throws {
        try kind.withStore(Badge.self) { store in
            let badges = try store.write { tx in try (0..<12_000).map { try tx.insert(Badge(name: "\($0)")) } }
            let ids = [badges[0].localID, badges[11_999].localID]
            for id in ids { try store.cache(Badge.self, id) }
            try store.write { tx in try tx.connection.execute("UPDATE \"Badge\" SET \"name\" = \"name\" || '!'") }
            #expect(try ids.map { try name(store, $0) } == ["0!", "11999!"])
            // With server IDs, each object has two keys, so that not all changes are recorded.
            try store.write { tx in
                try tx.connection.execute("UPDATE \"Badge\" SET \"serverID\" = \"localID\"")
            }
            for id in ids { try store.cache(Badge.self, id) }
            try store.write { tx in try tx.connection.execute("UPDATE \"Badge\" SET \"name\" = \"name\" || '!'") }
            #expect(try ids.map { try name(store, $0) } == ["0!!", "11999!!"])
        }
    }

    @Test(arguments: StoreKind.files)
    func `restart of the log keeps the objects`(kind: StoreKind) throws {
        try withBadge(kind) { store, id in
            try store.cache(Badge.self, id)
            try store.writer.queue.unsafeReentrantWrite { _ in
                _ = try store.writer.connection.value("PRAGMA wal_checkpoint(RESTART)")
            }
            try store.write { tx in _ = try tx.insert(Badge(name: "other")) }
            #expect(store.isCached(Badge.self, id))
            #expect(try store.cacheProblems(Badge.self, [id]) == [])
        }
    }

    @Test(arguments: StoreKind.files)
    func `maintenance does not change the results`(kind: StoreKind) throws {
        try withBadge(kind) { store, id in
            try store.cache(Badge.self, id)
            try store.compact()
            #expect(try store.checkIntegrity() == [])
            #expect(try store.cacheProblems(Badge.self, [id]) == [])
            try store.write { tx in try tx.update(Badge.self, localID: id) { $0.name = "two" } }
            #expect(try name(store, id) == "two")
        }
    }

    // MARK: Transactions

    @Test(arguments: StoreKind.allCases)
    func `transaction sees its own changes, and a rollback undoes them`(kind: StoreKind) throws {
        try withBadge(kind) { store, id in
            try store.cache(Badge.self, id)
            #expect(throws: Undone.self) {
                try store.write { tx in
                    try tx.update(Badge.self, localID: id) { $0.name = "two" }
                    for _ in 0..<3 {
                        #expect(try tx.object(ofType: Badge.self, forPrimaryKey: id)?.name == "two")
                        #expect(try name(store, id) == "two")
                    }
                    throw Undone()
                }
            }
            #expect(try name(store, id) == "one")
            #expect(store.isCached(Badge.self, id), "nothing was committed")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `nested write that is undone leaves the changes of the outer one`(kind: StoreKind) throws {
        try withBadge(kind) { store, id in
            try store.cache(Badge.self, id)
            try store.write { tx in
                try tx.update(Badge.self, localID: id) { $0.name = "two" }
                _ = try? store.write { inner in
                    try inner.update(Badge.self, localID: id) { $0.name = "three" }
                    #expect(try name(store, id) == "three")
                    throw Undone()
                }
                #expect(try name(store, id) == "two")
            }
            #expect(try name(store, id) == "two")
            #expect(try store.cacheProblems(Badge.self, [id]) == [])
        }
    }

    @Test(arguments: StoreKind.files)
    func `uncommitted change is not visible to other threads`(kind: StoreKind) throws {
        try withBadge(kind) { store, id in
            try store.cache(Badge.self, id)
            func nameElsewhere() throws -> String? {
                try onOtherThread { try name(store, id) }
            }
            try store.write { tx in
                try tx.update(Badge.self, localID: id) { $0.name = "two" }
                _ = try tx.object(ofType: Badge.self, forPrimaryKey: id)
                for _ in 0..<3 { #expect(try nameElsewhere() == "one") }
            }
            #expect(try nameElsewhere() == "two")
        }
    }

    @Test(arguments: StoreKind.files)
    func `read block that began earlier keeps its state`(kind: StoreKind) throws {
        try kind.withStore(Badge.self) { store in
            let badges = try store.write { tx in try (0..<2).map { try tx.insert(Badge(name: "\($0)")) } }
            let (first, second) = (badges[0].localID, badges[1].localID)
            try store.cache(Badge.self, first)
            var other = try store.cache(Badge.self, second)
            other.name = "planted"
            try store.plant(other)
            try store.read { tx in
                func name(_ id: LocalID) throws -> String? {
                    try tx.object(ofType: Badge.self, forPrimaryKey: id)?.name
                }
                #expect(try name(first) == "0")
                try onOtherThread {
                    for round in 0..<3 {
                        try store.write { tx in try tx.update(Badge.self, localID: first) { $0.name = "new \(round)" } }
                        try store.cache(Badge.self, first)
                    }
                }
                for _ in 0..<3 { #expect(try name(first) == "0") }
                #expect(try name(second) == "planted", "an object that no commit changed is still in memory")
                let isCurrent = try onOtherThread {
                    try store.object(ofType: Badge.self, forPrimaryKey: first)?.name == "new 2"
                }
                #expect(isCurrent, "the block's reads do not add old objects")
            }
            #expect(try store.object(ofType: Badge.self, forPrimaryKey: first)?.name == "new 2")
        }
    }

    @Test(arguments: StoreKind.files)
    func `read block whose state was fixed by a query before a commit does not use a newer state`(
        kind: StoreKind
    ) throws {
        try withBadge(kind) { store, id in
            try store.cache(Badge.self, id)
            try store.read { tx in
                #expect(try tx.objects(Badge.self).count() == 1)
                try onOtherThread {
                    try store.write { tx in try tx.update(Badge.self, localID: id) { $0.name = "two" } }
                    try store.cache(Badge.self, id)
                }
                for _ in 0..<3 { #expect(try tx.object(ofType: Badge.self, forPrimaryKey: id)?.name == "one") }
            }
            #expect(try name(store, id) == "two")
        }
    }

    @Test(arguments: StoreKind.files)
    func `read block that reads nothing before a commit sees one state`(kind: StoreKind) throws {
        try withBadge(kind) { store, id in
            try store.cache(Badge.self, id)
            try store.read { tx in
                try onOtherThread {
                    try store.write { tx in try tx.update(Badge.self, localID: id) { $0.name = "two" } }
                }
                let first = try tx.object(ofType: Badge.self, forPrimaryKey: id)?.name
                #expect(try tx.objects(Badge.self).all().map(\.name) == [first])
            }
        }
    }

    // MARK: IDs

    @Test(arguments: StoreKind.allCases)
    func `object is found by its server ID, before and after a change of that ID`(kind: StoreKind) throws {
        try kind.withStore(Badge.self) { store in
            let badge = try store.applyServerObject(Badge(name: "one"), serverID: "s1", version: "1")
            let id = badge.localID
            try store.cache(Badge.self, id)
            try store.cache(Badge.self, "s1" as ServerID)
            try store.write { tx in
                try tx.connection.execute("UPDATE \"Badge\" SET \"serverID\" = 's2' WHERE \"serverID\" = 's1'")
            }
            for _ in 0..<3 {
                #expect(try store.object(ofType: Badge.self, forServerID: "s1") == nil)
                #expect(try store.object(ofType: Badge.self, forServerID: "s2")?.localID == id)
                #expect(try store.object(ofType: Badge.self, forPrimaryKey: id)?.serverID == "s2")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `acknowledged insert is visible by both IDs`(kind: StoreKind) throws {
        try withBadge(kind) { store, id in
            #expect(try store.cache(Badge.self, id).serverID == nil)
            for _ in 0..<2 { #expect(try store.object(ofType: Badge.self, forServerID: "s1") == nil) }
            let operation = try #require(try store.operations.all().first)
            try store.write { tx in
                _ = try tx.beginAttempt(operation.id)
                try tx.acknowledge(operation.id, serverID: "s1", version: "1")
            }
            #expect(try store.object(ofType: Badge.self, forPrimaryKey: id)?.isSynced == true)
            for _ in 0..<3 { #expect(try store.object(ofType: Badge.self, forServerID: "s1")?.localID == id) }
            #expect(store.isCached(Badge.self, "s1" as ServerID))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `server's state of an object replaces the cached one`(kind: StoreKind) throws {
        try kind.withStore(Badge.self) { store in
            for version in 1...4 {
                let badge = Badge(name: "version \(version)").identified(by: "s1")
                try store.applyServerObject(badge, version: "\(version)")
                for _ in 0..<3 {
                    #expect(try name(store, "s1") == "version \(version)")
                    let found = try store.object(ofType: Badge.self, forServerID: "s1")
                    #expect(found?.version == "\(version)")
                }
            }
            #expect(store.isCached(Badge.self, "s1" as LocalID))
            #expect(store.isCached(Badge.self, "s1" as ServerID))
            let wasRemoved = try store.applyServerDelete(of: Badge.self, serverID: "s1")
            #expect(wasRemoved)
            #expect(try name(store, "s1") == nil)
            #expect(try store.object(ofType: Badge.self, forServerID: "s1") == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `deleted object is absent, and an undeleted one is back`(kind: StoreKind) throws {
        try kind.withStore(Badge.self) { store in
            let badge = try store.applyServerObject(Badge(name: "one"), serverID: "s1", version: "1")
            for _ in 0..<3 {
                try store.cache(Badge.self, badge.localID)
                try store.cache(Badge.self, "s1" as ServerID)
                try store.write { tx in _ = try tx.delete(Badge.self, localID: badge.localID) }
                for _ in 0..<2 {
                    #expect(try name(store, badge.localID) == nil)
                    #expect(try store.object(ofType: Badge.self, forServerID: "s1") == nil)
                    #expect(try store.object(badge.reference) == nil)
                }
                try store.write { tx in _ = try tx.undelete(Badge.self, localID: badge.localID) }
                #expect(try name(store, badge.localID) == "one")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `models with the same ID are separate`(kind: StoreKind) throws {
        try kind.withStore(Badge.self, Card.self, Person.self) { store in
            try store.write { tx in
                try tx.insert(Badge(name: "badge").identified(by: "1"))
                try tx.insert(Person(name: "person").identified(by: "1"))
            }
            try store.cache(Badge.self, "1" as LocalID)
            try store.cache(Person.self, "1" as LocalID)
            #expect(try store.object(ofType: Badge.self, forPrimaryKey: "1")?.name == "badge")
            #expect(try store.object(ofType: Person.self, forPrimaryKey: "1")?.name == "person")
            try store.write { tx in try tx.update(Badge.self, localID: "1") { $0.name = "changed" } }
            #expect(store.isCached(Person.self, "1" as LocalID))
            #expect(try store.object(ofType: Badge.self, forPrimaryKey: "1")?.name == "changed")
        }
    }

    @Test func `IDs are compared by their bytes`() throws {
        try StoreKind.memory.withStore(Badge.self) { store in
            // The texts are canonically equivalent.
            let (short, long) = (LocalID("\u{E9}"), LocalID("e\u{301}"))
            try store.write { tx in try tx.insert(Badge(name: "short").identified(by: short)) }
            try store.cache(Badge.self, short)
            #expect(try name(store, long) == nil)
            try store.write { tx in try tx.insert(Badge(name: "long").identified(by: long)) }
            try store.cache(Badge.self, long)
            #expect(try name(store, short) == "short")
            #expect(try name(store, long) == "long")
        }
    }

    // MARK: Options

    @Test(arguments: StoreKind.allCases)
    func `size of 0 turns the cache off`(kind: StoreKind) throws {
        var configuration = Store.Configuration()
        configuration.objectCacheSize = 0
        try withBadge(kind, configuration: configuration) { store, id in
            #expect(store.objectCache == nil)
            for _ in 0..<3 { #expect(try name(store, id) == "one") }
            #expect(!store.isCached(Badge.self, id))
            try store.write { tx in try tx.update(Badge.self, localID: id) { $0.name = "two" } }
            try store.read { tx in
                for _ in 0..<3 {
                    let found = try tx.object(ofType: Badge.self, forPrimaryKey: id)
                    #expect(found?.name == "two")
                }
            }
            #expect(try store.cacheProblems(Badge.self, [id]) == [])
        }
    }

    @Test func `database without a log has no index, and its store no cache`() throws {
        let folder = try TestFolder()
        let path = folder.file()
        try Store(at: path, models: Badge.self).close()
        let opener = StoreOpener(location: .file(path), configuration: Store.Configuration())
        let queue = try opener.open(readOnly: false, label: "writer")
        let connection = try Connection(queue: queue, path: path)
        defer { connection.finalizeStatements() }
        #expect(try connection.logIndex() != nil)
        try connection.execute("PRAGMA journal_mode = DELETE")
        #expect(try connection.logIndex() == nil)
        let schema = try Schema([Badge.self])
        let writer = Store.WriterBox(queue: queue, connection: connection)
        #expect(ObjectCache.make(Store.Configuration(), schema: schema, writer: writer, isInMemory: false) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `unknown model is an error with and without cached objects`(kind: StoreKind) throws {
        try withBadge(kind) { store, id in
            try store.cache(Badge.self, id)
            expectError(.unknownModel) { try store.object(ofType: Node.self, forPrimaryKey: id) }
            expectError(.unknownModel) { try store.object(ofType: Node.self, forServerID: "s1") }
        }
    }
}
