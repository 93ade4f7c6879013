import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct FileKeyTests {
    private func roundTrip(_ folder: TemporaryFolder, _ written: FileKey, _ read: FileKey) throws -> Data {
        let path = folder.path(of: "photo.enc")
        let writer = try EncryptedFile.Writer(path: path, key: written, context: "card")
        try writer.write(Data("Пятёрочка".utf8))
        try writer.finish()
        return try EncryptedFile.Reader(path: path, key: read, context: "card").read(at: 0, count: 100)
    }

    @Test(arguments: [StoreKind.encrypted, .sqlCipher])
    func `the key for files stays when the store's key and profile change`(_ kind: StoreKind) throws {
        try TemporaryFolder.with { folder in
            let path = folder.path(of: "a.tandem")
            var store = try kind.open(at: path, [Card.self, Person.self, Badge.self])
            let before = try store.fileKey()
            store.close()
            let other: StoreKind = kind == .encrypted ? .sqlCipher : .encrypted
            let newKey = CipherKey.raw([UInt8](repeating: 7, count: 32))
            try Store.changeKey(
                at: path, from: StoreKind.key, profile: kind.profile ?? .aes256gcm, to: newKey,
                newProfile: other.profile)
            store = try Store(
                at: path, key: newKey, profile: other.profile ?? .aes256gcm,
                models: [Card.self, Person.self, Badge.self])
            defer { store.close() }
            #expect(try roundTrip(folder, before, store.fileKey()) == Data("Пятёрочка".utf8))
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test func `two stores have two keys, and a plain one has none`() throws {
        try TemporaryFolder.with { folder in
            let one = try StoreKind.encrypted.open(at: folder.path(of: "1"), [Card.self, Person.self, Badge.self])
            let two = try StoreKind.encrypted.open(at: folder.path(of: "2"), [Card.self, Person.self, Badge.self])
            let (first, second) = (try one.fileKey(), try two.fileKey())
            #expect(throws: CipherError.self) { try roundTrip(folder, first, second) }
            let plain = try StoreKind.file.open(at: folder.path(of: "3"), [Card.self, Person.self, Badge.self])
            #expect(code { try plain.fileKey() } == .notEncrypted)
        }
    }

    @Test func `a store opened for reading gives the key if there is one`() throws {
        try TemporaryFolder.with { folder in
            let path = folder.path(of: "a.tandem")
            var configuration = Store.Configuration()
            configuration.isReadOnly = true
            let models: [any Model.Type] = [Card.self, Person.self, Badge.self]
            let writing = try StoreKind.encrypted.open(at: path, models)
            let reading = try StoreKind.encrypted.open(at: path, models, configuration: configuration)
            #expect(code { try reading.fileKey() } == .readOnly)
            let key = try writing.fileKey()
            #expect(try roundTrip(folder, key, reading.fileKey()) == Data("Пятёрочка".utf8))
        }
    }
}
