import Foundation
import SQLiteCipher
import Synchronization
import TandemTestScript
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Cached objects while other stores and other processes commit, and after the store was opened again.
@Suite(.startsProcesses, .ownThreads) struct ExternalObjectCacheTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func mark(_ store: Store) throws -> Int? {
        try store.object(ofType: PeerMark.self, forPrimaryKey: PeerMark.id)?.number
    }

    private func openWithMark(_ kind: StoreKind) throws -> Store {
        let store = try Peer.open(folder.file(kind))
        try store.write { tx in _ = try tx.insert(PeerMark(number: 0).identified(by: PeerMark.id)) }
        try store.cache(PeerMark.self, PeerMark.id)
        return store
    }

    @Test(arguments: StoreKind.files)
    func `commit of another process is visible to the next call`(kind: StoreKind) throws {
        let store = try openWithMark(kind)
        defer { store.close() }
        for round in 1...4 {
            let process = try PeerProcess(["count", folder.file(kind), "3"], in: folder)
            process.wait()
            #expect(try mark(store) == 3 * round)
            try store.cache(PeerMark.self, PeerMark.id)
            // Own commits continue from the other process's state.
            try store.write { tx in _ = try tx.insert(PeerPerson(name: "own \(round)")) }
            #expect(store.isCached(PeerMark.self, PeerMark.id))
            #expect(try mark(store) == 3 * round)
        }
    }

    @Test(arguments: StoreKind.files)
    func `read block keeps its state while another process commits`(kind: StoreKind) throws {
        let store = try openWithMark(kind)
        defer { store.close() }
        try store.read { tx in
            func mark() throws -> Int? { try tx.object(ofType: PeerMark.self, forPrimaryKey: PeerMark.id)?.number }
            #expect(try mark() == 0)
            let process = try PeerProcess(["count", folder.file(kind), "2"], in: folder)
            process.wait()
            for _ in 0..<3 { #expect(try mark() == 0) }
        }
        #expect(try mark(store) == 2)
    }

    @Test(arguments: StoreKind.files)
    func `single calls are never older than another process's reported commit`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        defer { store.close() }
        let person = try store.write { tx in try tx.insert(PeerPerson(name: "own")) }
        try store.cache(PeerPerson.self, person.localID)
        let end = folder.file("end")
        let peer = try PeerProcess(["commits", folder.file(kind), "40", "1", end], in: folder)
        #expect(peer.waitForLine("commit 40"))
        // Each commit outdated the cached objects.
        try store.cache(PeerPerson.self, person.localID)
        let found = try store.objects(PeerPerson.self).all().map(\.localID)
        #expect(found.count == 41)
        #expect(try store.cacheProblems(PeerPerson.self, found) == [])
        _ = FileManager.default.createFile(atPath: end, contents: nil)
        peer.wait()
    }

    @Test(arguments: StoreKind.files)
    func `commit of another store of this process is visible to the next call`(kind: StoreKind) throws {
        let store = try openWithMark(kind)
        let other = try Peer.open(folder.file(kind))
        defer {
            other.close()
            store.close()
        }
        for number in 1...100 {
            try other.write { tx in try tx.update(PeerMark.self, localID: PeerMark.id) { $0.number = number } }
            #expect(try mark(store) == number)
            #expect(try mark(other) == number)
            if number.isMultiple(of: 3) {
                try store.write { tx in try tx.update(PeerMark.self, localID: PeerMark.id) { $0.number = -number } }
                #expect(try mark(other) == -number)
                #expect(try mark(store) == -number)
            }
        }
    }

    @Test(arguments: StoreKind.files)
    func `another process's migration does not leave old objects`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        defer { store.close() }
        let person = try store.write { tx in try tx.insert(PeerPerson(name: "one")) }
        try store.cache(PeerPerson.self, person.localID)
        let process = try PeerProcess(["rewrite", folder.file(kind)], in: folder)
        process.wait()
        #expect(!store.isCached(PeerPerson.self, person.localID))
    }

    @Test(arguments: StoreKind.files)
    func `migrated store returns objects of the new model`(kind: StoreKind) throws {
        let path = folder.file(kind)
        let id: LocalID
        do {
            let store = try Peer.open(path)
            id = try store.write { tx in try tx.insert(PeerPerson(name: "one")) }.localID
            try store.cache(PeerPerson.self, id)
            store.close()
        }
        let store = try Peer.open(path, models: [PeerPersonGrown.self])
        defer { store.close() }
        #expect(store.objectCache?.count == 0)
        for _ in 0..<3 {
            let person = try store.object(ofType: PeerPersonGrown.self, forPrimaryKey: id)
            #expect(person?.city == "Псков")
        }
        #expect(store.isCached(PeerPersonGrown.self, id))
        try store.write { tx in try tx.update(PeerPersonGrown.self, localID: id) { $0.city = "Омск" } }
        #expect(try store.object(ofType: PeerPersonGrown.self, forPrimaryKey: id)?.city == "Омск")
    }

    @Test(arguments: StoreKind.withKey)
    func `store with a changed key returns its own objects`(kind: StoreKind) throws {
        let path = folder.file(kind)
        let profile = try #require(kind.profile)
        let old = try Store(at: path, key: StoreKind.key, profile: profile, models: Badge.self)
        let badge = try old.write { tx in try tx.insert(Badge(name: "one")) }
        try old.cache(Badge.self, badge.localID)
        old.close()
        try Store.changeKey(at: path, from: StoreKind.key, profile: profile, to: Secrets.otherKey)
        let store = try Store(at: path, key: Secrets.otherKey, profile: profile, models: Badge.self)
        defer { store.close() }
        try store.cache(Badge.self, badge.localID)
        try store.write { tx in try tx.update(Badge.self, localID: badge.localID) { $0.name = "two" } }
        #expect(try store.object(ofType: Badge.self, forPrimaryKey: badge.localID)?.name == "two")
        // The closed store stays closed, although it had the object.
        expectError(.closed) { try old.object(ofType: Badge.self, forPrimaryKey: badge.localID) }
    }

    @Test(arguments: StoreKind.allCases)
    func `closing discards all objects, and later reads report that the store is closed`(kind: StoreKind) throws {
        let store = try kind.open(at: folder.file(kind), [Badge.self])
        let badge = try store.write { tx in try tx.insert(Badge(name: "one")) }
        try store.cache(Badge.self, badge.localID)
        let cache = try #require(store.objectCache)
        weak var cached: AnyObject?
        if case .object(let object) = cache.find(
            CacheKey(Badge.self, kind: .localID, text: badge.localID.rawValue))
        {
            cached = object.identity
        }
        #expect(cached != nil)
        store.close()
        #expect(cached == nil)
        #expect(cache.count == 0)
        #expect(cache.byteCount == 0)
        expectError(.closed) { try store.object(ofType: Badge.self, forPrimaryKey: badge.localID) }
        expectError(.closed) { try store.object(badge.reference) }
        expectError(.closed) { try store.objects([badge.reference]) }
    }

    @Test func `memory of a released object is overwritten`() throws {
        let object = UnsafeMutablePointer<Badge>.allocate(capacity: 1)
        defer { object.deallocate() }
        object.initialize(to: Badge(name: "one"))
        let memory = UnsafeRawBufferPointer(start: object, count: MemoryLayout<Badge>.size)
        #expect(memory.contains { $0 != 0 })
        CachedObject.erase(object, as: Badge.self)
        #expect(memory.allSatisfy { $0 == 0 })
    }

    @Test(arguments: StoreKind.files)
    func `read-only store reads from memory and sees other commits`(kind: StoreKind) throws {
        let writing = try openWithMark(kind)
        let store = try Peer.open(folder.file(kind), readOnly: true)
        defer {
            store.close()
            writing.close()
        }
        for number in 1...5 {
            try writing.write { tx in try tx.update(PeerMark.self, localID: PeerMark.id) { $0.number = number } }
            for _ in 0..<3 { #expect(try mark(store) == number) }
            #expect(store.isCached(PeerMark.self, PeerMark.id))
        }
    }
}
