import Foundation
import SQLiteCipher
import TandemTesting
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Helpers of the tests of encrypted stores.
enum Secrets {
    static let otherKey = CipherKey.raw([UInt8](repeating: 7, count: 32))

    static let tables = [
        "PeerCard", "PeerPerson", "PeerMark", "__operations", "__links_PeerCard_people", "__unresolved",
        "__search_PeerCard_data",
    ]

    /// Returns all rows of a store and of its search indexes.
    static func rows(_ store: Store) throws -> [[[StorageValue]]] {
        try tables.map { try store.rows("SELECT * FROM \($0) ORDER BY 1, 2") }
    }
}

extension Store {
    /// Writes objects of all models, with references, operations and enough texts for some pages.
    func fillWithPeers(cards: Int = 40) throws {
        try write { tx in
            let person = try tx.insert(PeerPerson(name: "Ада"))
            try tx.insert(PeerPerson(name: "Боб"))
            _ = try tx.upsert(PeerMark(number: 7).identified(by: PeerMark.id))
            for index in 0..<cards {
                try tx.insert(
                    PeerCard(
                        shop: "Лента \(index) " + String(repeating: "Ёлка ", count: 40), barcode: "\(index)",
                        points: index, owner: person.reference, people: [person.reference]))
            }
        }
    }
}

extension TestFolder {
    /// Makes and closes a store of a kind, and returns its rows.
    func makeStore(_ kind: StoreKind, _ name: String? = nil, cards: Int = 40) throws -> [[[StorageValue]]] {
        let store = try Peer.open(name.map { file($0) } ?? file(kind), kind)
        defer { store.close() }
        try store.fillWithPeers(cards: cards)
        return try Secrets.rows(store)
    }

    /// Opens a store with a key.
    func open(
        _ name: String, _ key: CipherKey?, _ profile: CipherProfile = .aes256gcm, readOnly: Bool = false
    ) throws -> Store {
        var configuration = Store.Configuration()
        configuration.isReadOnly = readOnly
        configuration.busyTimeout = 5
        let models: [any Model.Type] = [PeerCard.self, PeerPerson.self, PeerMark.self]
        guard let key else { return try Store(at: file(name), models: models, configuration: configuration) }
        return try Store(at: file(name), key: key, profile: profile, models: models, configuration: configuration)
    }

    /// Checks that a block throws an error with a code and leaves the folder unchanged.
    @discardableResult
    func expectRefused<T>(
        _ code: TandemError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
    ) throws -> TandemError? {
        let before = try contents()
        let error = expectError(code, sourceLocation: sourceLocation, body)
        let after = try contents()
        #expect(before.keys.sorted() == after.keys.sorted(), sourceLocation: sourceLocation)
        #expect(before == after, "its bytes", sourceLocation: sourceLocation)
        return error
    }

    /// Changes one byte in the middle of a page of a file.
    func damage(_ name: String, page: Int, pageSize: Int = 4096) throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: file(name)))
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64((page - 1) * pageSize + 1000))
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: UInt64((page - 1) * pageSize + 1000))
        try handle.write(contentsOf: Data([byte ^ 1]))
    }
}
