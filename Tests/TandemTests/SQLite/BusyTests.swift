import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Several writers on one file.
@Suite(.startsProcesses, .ownThreads) struct BusyTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    @Test(arguments: [0, 0.3], StoreKind.files)
    func `a writer waits for another process until the busy timeout and then throws`(
        timeout: Double, kind: StoreKind
    ) throws {
        _ = try Peer.open(folder.file(kind))
        let release = folder.file("release")
        let peer = try PeerProcess(["hold", folder.file(kind), release], in: folder)
        try #require(peer.waitForLine("holding"))
        // Opening takes no lock if there is nothing to migrate.
        let store = try Peer.open(folder.file(kind), busyTimeout: timeout)
        let start = ContinuousClock.now
        let error = expectError(.busy) { try store.write { try $0.insert(PeerPerson(name: "x")) } }
        #expect(start.duration(to: .now) >= .seconds(timeout * 0.9))
        #expect(error?.store == folder.file(kind) && error?.advice != nil)
        // Reading is still possible.
        #expect(try store.rows("SELECT count(*) FROM PeerPerson") == [[0]])
        _ = FileManager.default.createFile(atPath: release, contents: nil)
        peer.wait()
        _ = try store.write { try $0.insert(PeerPerson(name: "x")) }
        #expect(try store.rows("SELECT count(*) FROM PeerPerson") == [[2]])
    }

    @Test(arguments: StoreKind.files)
    func `a migration waits for a writer and then throws`(kind: StoreKind) throws {
        _ = try Peer.open(folder.file(kind))
        let release = folder.file("release")
        let peer = try PeerProcess(["hold", folder.file(kind), release], in: folder)
        try #require(peer.waitForLine("holding"))
        var configuration = Store.Configuration()
        configuration.busyTimeout = 0.1
        expectError(.busy) {
            try kind.open(at: folder.file(kind), [PeerPersonGrown.self], configuration: configuration)
        }
        _ = FileManager.default.createFile(atPath: release, contents: nil)
        peer.wait()
        let store = try kind.open(at: folder.file(kind), [PeerPersonGrown.self], configuration: configuration)
        #expect(try store.rows("SELECT name, city FROM PeerPerson") == [["held", "Псков"]])
    }

    @Test(arguments: StoreKind.files)
    func `a killed writer releases the lock`(kind: StoreKind) throws {
        _ = try Peer.open(folder.file(kind))
        let peer = try PeerProcess(["hold", folder.file(kind), folder.file("never")], in: folder)
        try #require(peer.waitForLine("holding"))
        peer.kill()
        let store = try Peer.open(folder.file(kind), busyTimeout: 0)
        _ = try store.write { try $0.insert(PeerPerson(name: "x")) }
        #expect(try store.rows("SELECT name FROM PeerPerson") == [["x"]])
    }

    @Test(arguments: StoreKind.files)
    func `several processes write at once and lose nothing`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        _ = try store.write { try $0.insert(PeerMark(number: 0).identified(by: PeerMark.id)) }
        let peers = try (0..<3).map { _ in try PeerProcess(["count", folder.file(kind), "100"], in: folder) }
        for _ in 0..<100 {
            try store.write { tx in
                try tx.update(PeerMark.self, localID: PeerMark.id) { $0.number += 1 }
                try tx.insert(PeerPerson(name: "here"))
            }
        }
        for peer in peers {
            peer.wait()
            #expect(peer.lines == ["done"])
        }
        #expect(try store.rows("SELECT number FROM PeerMark") == [[400]])
        #expect(try store.rows("SELECT count(*) FROM PeerPerson") == [[400]])
        #expect(try store.operations.count() == 400)
        try store.expectSound()
    }

    @Test(arguments: StoreKind.files)
    func `several stores of a process write at once and lose nothing`(kind: StoreKind) throws {
        let stores = try (0..<4).map { _ in try Peer.open(folder.file(kind)) }
        _ = try stores[0].write { try $0.insert(PeerMark(number: 0).identified(by: PeerMark.id)) }
        let errors = Mutex<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { index in
            do {
                for _ in 0..<25 {
                    try stores[index % 4].write { tx in
                        _ = try tx.update(PeerMark.self, localID: PeerMark.id) { $0.number += 1 }
                    }
                }
            } catch { errors.withLock { $0.append(error) } }
        }
        #expect(errors.withLock { $0 }.isEmpty)
        #expect(try stores[1].rows("SELECT number FROM PeerMark") == [[200]])
    }
}
