import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Other code of the process that uses a store's file does not drop the store's locks.
///
/// POSIX drops all locks of a process on a file when the process closes any descriptor of it. Another process then
/// considers the store closed. When that process closes the file, it removes the log to which the store still writes.
/// The store's writes are then lost. `Data(contentsOf:)` on an open store's file drops the locks in the same way, so
/// these tests do not call it.
@Suite(.startsProcesses, .ownThreads) struct LockTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func expectLocksHold(_ kind: StoreKind, _ check: (Store) throws -> Void) throws {
        let path = folder.file(kind)
        let store = try Peer.open(path)
        _ = try store.write { try $0.insert(PeerCard(shop: "first", barcode: "1")) }
        try check(store)
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
    func `closing another store on the file drops no locks`(kind: StoreKind) throws {
        try expectLocksHold(kind) { store in
            let other = try Peer.open(store.path)
            _ = try other.sql("SELECT 1")
            other.close()
        }
    }

    @Test(arguments: StoreKind.files)
    func `a failed opening of the file drops no locks`(kind: StoreKind) throws {
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
    func `a backup onto the file drops no locks`(kind: StoreKind) throws {
        try expectLocksHold(kind) { store in
            let other = try kind.open(at: folder.file("other"), [PeerPerson.self])
            expectError(.busy) { try other.backup(to: store.path) }
            expectError(.busy) { try store.backup(to: store.path) }
            // A file of another kind is reported before.
            #expect(throws: TandemError.self) { try store.exportPlain(to: store.path) }
            #expect(throws: TandemError.self) { try store.export(to: store.path, key: StoreKind.key) }
        }
    }

    @Test(arguments: StoreKind.files)
    func `changing the encryption of an open store drops no locks`(kind: StoreKind) throws {
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
