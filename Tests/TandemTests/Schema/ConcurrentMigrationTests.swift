import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

@Suite(.startsProcesses, .ownThreads) struct ConcurrentMigrationTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    /// Runs a block on several threads at once, and returns the errors.
    private func atOnce(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) -> [any Error] {
        let errors = Mutex<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: count) { index in
            do { try body(index) } catch { errors.withLock { $0.append(error) } }
        }
        return errors.withLock { $0 }
    }

    @Test(arguments: StoreKind.files)
    func `several stores can create the file at once`(kind: StoreKind) throws {
        for round in 0..<20 {
            let path = folder.file("new-\(round)")
            let errors = atOnce(4) { index in
                let store = try kind.open(at: path, [PeerCard.self, PeerPerson.self, PeerMark.self])
                try store.write { try $0.insert(PeerPerson(name: "\(index)")) }
            }
            #expect(errors.isEmpty, "\(errors)")
            let store = try kind.open(at: path, [PeerPerson.self])
            #expect(try store.rows("SELECT count(*) FROM PeerPerson") == [[4]])
        }
    }

    @Test(arguments: StoreKind.files)
    func `several stores can migrate at once`(kind: StoreKind) throws {
        for round in 0..<10 {
            let path = folder.file("old-\(round)")
            do {
                let store = try kind.open(at: path, [PeerPerson.self])
                try store.write { tx in
                    for index in 0..<50 { try tx.insert(PeerPerson(name: "Ада \(index)")) }
                }
            }
            let errors = atOnce(4) { _ in
                let store = try kind.open(at: path, [PeerPersonGrown.self])
                try store.write { try $0.insert(PeerPersonGrown(name: "Боб", city: "Псков")) }
            }
            #expect(errors.isEmpty, "\(errors)")
            let store = try kind.open(at: path, [PeerPersonGrown.self])
            #expect(try store.rows("SELECT count(*) FROM PeerPerson WHERE city = 'Псков'") == [[54]])
            try store.expectSound()
        }
    }

    @Test(arguments: StoreKind.files)
    func `several processes can migrate at once`(kind: StoreKind) throws {
        do {
            let store = try kind.open(at: folder.file(kind), [PeerPerson.self])
            try store.write { tx in
                for index in 0..<500 { try tx.insert(PeerPerson(name: "Ада \(index)")) }
            }
        }
        let peers = try (0..<4).map { _ in try PeerProcess(["migrate", folder.file(kind)], in: folder) }
        for peer in peers {
            peer.wait()
            #expect(peer.lines == ["rows 500"])
        }
    }

    @Test(arguments: StoreKind.files)
    func `an open store gets an error when it writes after another store's migration`(kind: StoreKind) throws {
        let before = try kind.open(at: folder.file(kind), [PeerPerson.self])
        _ = try before.write { try $0.insert(PeerPerson(name: "Ада")) }
        let after = try kind.open(at: folder.file(kind), [PeerPersonGrown.self])
        for _ in 0..<2 {
            let error = expectError(.foreignSchemaChange) {
                try before.write { try $0.insert(PeerPerson(name: "Боб")) }
            }
            #expect(error?.store == folder.file(kind))
        }
        _ = try after.write { try $0.insert(PeerPersonGrown(name: "Ева", city: "Тверь")) }
        #expect(try after.rows("SELECT name, city FROM PeerPerson") == [["Ада", "Псков"], ["Ева", "Тверь"]])
        #expect(try after.operations.count() == 2)
    }

    @Test(arguments: StoreKind.files)
    func `another store with fewer models changes no schema`(kind: StoreKind) throws {
        let all = try kind.open(at: folder.file(kind), [PeerCard.self, PeerPerson.self, PeerMark.self])
        let few = try kind.open(at: folder.file(kind), [PeerPerson.self])
        _ = try few.write { try $0.insert(PeerPerson(name: "Ада")) }
        _ = try all.write { try $0.insert(PeerCard(shop: "x", barcode: "1")) }
        let again = try kind.open(at: folder.file(kind), [PeerCard.self, PeerPerson.self, PeerMark.self])
        _ = try all.write { try $0.insert(PeerCard(shop: "x", barcode: "2")) }
        _ = try again.write { try $0.insert(PeerCard(shop: "x", barcode: "3")) }
        #expect(try few.operations.count() == 4)
    }
}
