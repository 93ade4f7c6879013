import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// What other code of the process does with a store's file takes the store's locks from nobody.
///
/// POSIX drops all locks that a process has on a file when it closes any descriptor of it. Another process then takes
/// the store for closed: when it closes itself it removes the log, to which the store writes on, for nobody to read.
/// Whoever looks at an open store's file in a test by `Data(contentsOf:)` does just that, so these tests don't.
@Suite(.startsProcesses, .ownThreads) struct LockTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func expectLocksHold(_ kind: StoreKind, _ look: (Store) throws -> Void) throws {
        let path = folder.file(kind)
        let store = try Peer.open(path)
        _ = try store.write { try $0.insert(PeerCard(shop: "first", barcode: "1")) }
        try look(store)
        _ = FileManager.default.createFile(atPath: folder.file("end"), contents: nil)
        let writer = try PeerProcess(["commits", path, "1", "0", folder.file("end")], in: folder)
        #expect(writer.wait() == 0)
        #expect(FileManager.default.fileExists(atPath: path + "-wal"), "the log of an open store was removed")
        _ = try store.write { try $0.insert(PeerCard(shop: "second", barcode: "2")) }
        let reader = try PeerProcess(["read", path], in: folder)
        reader.wait()
        #expect(reader.lines.first == "cards 2")
        store.close()
        let again = try Peer.open(path)
        #expect(try again.rows("SELECT count(*) FROM PeerCard") == [[2]])
        #expect(try again.rows("SELECT count(*) FROM PeerPerson") == [[1]])
        try again.expectSound()
    }

    @Test(arguments: StoreKind.files)
    func anotherStoreOnTheFileThatIsClosedTakesNoLocks(kind: StoreKind) throws {
        try expectLocksHold(kind) { store in
            let other = try Peer.open(store.path)
            _ = try other.sql("SELECT 1")
            other.close()
        }
    }

    @Test(arguments: StoreKind.files)
    func openingTheFileInVainTakesNoLocks(kind: StoreKind) throws {
        try expectLocksHold(kind) { store in
            expectError(.schemaMismatch) {
                var configuration = Store.Configuration()
                configuration.isReadOnly = true
                _ = try kind.open(at: store.path, [PeerPersonGrown.self], configuration: configuration)
            }
            switch kind {
            case .encrypted, .sqlCipher: expectError(.notAStore) { try Store(at: store.path, models: PeerPerson.self) }
            default:
                expectError(.notEncrypted) {
                    try Store(at: store.path, key: StoreKind.key, models: PeerPerson.self)
                }
            }
        }
    }

    @Test(arguments: StoreKind.files)
    func backingUpOntoTheFileTakesNoLocks(kind: StoreKind) throws {
        try expectLocksHold(kind) { store in
            let other = try kind.open(at: folder.file("other"), [PeerPerson.self])
            expectError(.busy) { try other.backup(to: store.path) }
            expectError(.busy) { try store.backup(to: store.path) }
            // What is not its own kind's is told before.
            #expect(throws: TandemError.self) { try store.exportPlain(to: store.path) }
            #expect(throws: TandemError.self) { try store.export(to: store.path, key: StoreKind.key) }
        }
    }

    @Test(arguments: StoreKind.files)
    func changingTheEncryptionOfAnOpenStoreTakesNoLocks(kind: StoreKind) throws {
        try expectLocksHold(kind) { store in
            if let profile = kind.profile {
                expectError(.busy) {
                    try Store.changeKey(
                        at: store.path, from: StoreKind.key, profile: profile, to: .raw(Array(repeating: 9, count: 32)))
                }
            } else {
                expectError(.busy) { try Store.encrypt(at: store.path, key: StoreKind.key) }
            }
        }
    }
}
