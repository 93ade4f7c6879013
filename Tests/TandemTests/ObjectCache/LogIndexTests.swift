import Foundation
import TandemTestScript
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The log's index as proof that no commit has ended: the properties of SQLite on which the object cache depends.
@Suite(.ownThreads) struct LogIndexTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func index(_ store: Store) throws -> LogIndex {
        try #require(try store.writer.queue.unsafeReentrantRead { _ in try store.writer.connection.logIndex() })
    }

    @Test(arguments: StoreKind.files)
    func `each commit of each connection changes the header and counts one`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        let other = try Peer.open(folder.file(kind))
        defer {
            other.close()
            store.close()
        }
        let index = try index(store)
        var header = try #require(index.header())
        for round in 0..<20 {
            #expect(index.holds(header.words))
            let writer = round.isMultiple(of: 2) ? store : other
            try writer.write { tx in _ = try tx.insert(PeerPerson(name: "\(round)")) }
            #expect(!index.holds(header.words))
            let next = try #require(index.header())
            #expect(next.commitCount == header.commitCount &+ 1)
            header = next
        }
    }

    @Test(arguments: StoreKind.files)
    func `rollback, empty transaction and read leave the header`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        defer { store.close() }
        let index = try index(store)
        let header = try #require(index.header())
        _ = try? store.write { tx in
            try tx.insert(PeerPerson(name: "undone"))
            throw CancellationError()
        }
        try store.write { _ in }
        _ = try store.objects(PeerPerson.self).count()
        #expect(index.holds(header.words))
        #expect(index.header() == header)
    }

    @Test(arguments: StoreKind.files)
    func `restart of the log is not counted as a commit`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        defer { store.close() }
        let index = try index(store)
        try store.write { tx in _ = try tx.insert(PeerPerson(name: "one")) }
        let before = try #require(index.header())
        try store.writer.queue.unsafeReentrantWrite { _ in
            _ = try store.writer.connection.value("PRAGMA wal_checkpoint(RESTART)")
        }
        try store.write { tx in _ = try tx.insert(PeerPerson(name: "two")) }
        let after = try #require(index.header())
        #expect(after.commitCount == before.commitCount &+ 1)
    }

    @Test(arguments: StoreKind.files)
    func `transaction larger than the page cache changes the header only at its commit`(kind: StoreKind) throws {
        var configuration = Store.Configuration()
        configuration.cacheSize = 64 << 10
        let store = try kind.open(at: folder.file(kind), [Badge.self], configuration: configuration)
        defer { store.close() }
        let index = try index(store)
        let header = try #require(index.header())
        try store.write { tx in
            for number in 0..<3000 { try tx.insert(Badge(name: "\(number) " + String(repeating: "x", count: 200))) }
            #expect(index.header()?.commitCount == header.commitCount)
        }
        #expect(index.header()?.commitCount == header.commitCount &+ 1)
    }

    @Test func `first read of a transaction fixes its state`() throws {
        let store = try Peer.open(folder.file())
        defer { store.close() }
        try store.read { tx in
            _ = try tx.connection.value(SchemaStatement.dataVersion)
            try onOtherThread { try store.write { tx in _ = try tx.insert(PeerPerson(name: "one")) } }
            #expect(try tx.objects(PeerPerson.self).count() == 0)
        }
        #expect(try store.objects(PeerPerson.self).count() == 1)
    }
}
