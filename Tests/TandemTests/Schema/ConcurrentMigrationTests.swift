import Foundation
import Synchronization
import Testing

@testable import Tandem
@testable import TandemTestScript

@Suite struct ConcurrentMigrationTests {
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

    @Test func severalStoresCanCreateTheFileAtOnce() throws {
        for round in 0..<20 {
            let path = folder.file("new-\(round)")
            let errors = atOnce(4) { index in
                let store = try Store(at: path, models: PeerCard.self, PeerPerson.self, PeerMark.self)
                try store.write { try $0.insert(PeerPerson(name: "\(index)")) }
            }
            #expect(errors.isEmpty, "\(errors)")
            let store = try Store(at: path, models: PeerPerson.self)
            #expect(try store.rows("SELECT count(*) FROM PeerPerson") == [[4]])
        }
    }

    @Test func severalStoresCanMigrateAtOnce() throws {
        for round in 0..<10 {
            let path = folder.file("old-\(round)")
            do {
                let store = try Store(at: path, models: PeerPerson.self)
                try store.write { tx in
                    for index in 0..<50 { try tx.insert(PeerPerson(name: "Ада \(index)")) }
                }
            }
            let errors = atOnce(4) { _ in
                let store = try Store(at: path, models: PeerPersonGrown.self)
                try store.write { try $0.insert(PeerPersonGrown(name: "Боб", city: "Псков")) }
            }
            #expect(errors.isEmpty, "\(errors)")
            let store = try Store(at: path, models: PeerPersonGrown.self)
            #expect(try store.rows("SELECT count(*) FROM PeerPerson WHERE city = 'Псков'") == [[54]])
            try store.expectSound()
        }
    }

    @Test func severalProcessesCanMigrateAtOnce() throws {
        do {
            let store = try Store(at: folder.file(), models: PeerPerson.self)
            try store.write { tx in
                for index in 0..<500 { try tx.insert(PeerPerson(name: "Ада \(index)")) }
            }
        }
        let peers = try (0..<4).map { _ in try PeerProcess(["migrate", folder.file()], in: folder) }
        for peer in peers {
            peer.wait()
            #expect(peer.lines == ["rows 500"])
        }
    }

    @Test func aStoreThatIsOpenWhenAnotherMigratesIsToldSoWhenItWrites() throws {
        let before = try Store(at: folder.file(), models: PeerPerson.self)
        _ = try before.write { try $0.insert(PeerPerson(name: "Ада")) }
        let after = try Store(at: folder.file(), models: PeerPersonGrown.self)
        for _ in 0..<2 {
            let error = expectError(.foreignSchemaChange) {
                try before.write { try $0.insert(PeerPerson(name: "Боб")) }
            }
            #expect(error?.store == folder.file())
        }
        _ = try after.write { try $0.insert(PeerPersonGrown(name: "Ева", city: "Тверь")) }
        #expect(try after.rows("SELECT name, city FROM PeerPerson") == [["Ада", "Псков"], ["Ева", "Тверь"]])
        #expect(try after.operations.count() == 2)
    }

    @Test func anotherStoreWithFewerModelsChangesNoSchema() throws {
        let all = try Store(at: folder.file(), models: PeerCard.self, PeerPerson.self, PeerMark.self)
        let few = try Store(at: folder.file(), models: PeerPerson.self)
        _ = try few.write { try $0.insert(PeerPerson(name: "Ада")) }
        _ = try all.write { try $0.insert(PeerCard(shop: "x", barcode: "1")) }
        let again = try Store(at: folder.file(), models: PeerCard.self, PeerPerson.self, PeerMark.self)
        _ = try all.write { try $0.insert(PeerCard(shop: "x", barcode: "2")) }
        _ = try again.write { try $0.insert(PeerCard(shop: "x", barcode: "3")) }
        #expect(try few.operations.count() == 4)
    }
}
