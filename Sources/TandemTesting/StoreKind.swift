import Foundation
import Tandem

/// The kinds of store that a test runs on: one test body, all kinds.
///
/// For example:
///
/// ```swift
/// @Test(arguments: StoreKind.allCases)
/// func keepsCards(kind: StoreKind) throws {
///     try kind.withStore(Card.self) { store in
///         try store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
///         #expect(try store.objects(Card.self).count() == 1)
///     }
/// }
/// ```
public enum StoreKind: String, CaseIterable, Sendable, CustomStringConvertible {
    /// In memory.
    case memory
    /// A file in a folder of its own, which is removed at the end.
    case file
    /// Such a file, encrypted with AES-256-GCM.
    case encrypted
    /// Such a file, encrypted as SQLCipher 4 does.
    case sqlCipher

    public var description: String { rawValue }

    /// The key of the encrypted kinds: a raw one, which costs nothing to derive.
    public static let key = CipherKey.raw([UInt8](0..<32))

    /// How the kind encrypts its pages, if it does.
    public var profile: CipherProfile? {
        switch self {
        case .memory, .file: nil
        case .encrypted: .aes256gcm
        case .sqlCipher: .sqlCipher4
        }
    }

    /// Opens a store of this kind at a path, which one in memory does without.
    public func open(
        at path: String, _ models: [any Model.Type], configuration: Store.Configuration = Store.Configuration()
    ) throws -> Store {
        switch (self, profile) {
        case (.memory, _): try Store(inMemoryModels: models, configuration: configuration)
        case (_, let profile?):
            try Store(at: path, key: Self.key, profile: profile, models: models, configuration: configuration)
        default: try Store(at: path, models: models, configuration: configuration)
        }
    }

    /// Opens an empty store for the time of a block.
    public func withStore<T>(
        _ models: any Model.Type..., configuration: Store.Configuration = Store.Configuration(),
        _ body: (Store) throws -> T
    ) throws -> T {
        let folder = try folder()
        defer { folder?.remove() }
        let store = try open(at: folder?.path(of: "test.tandem") ?? "", models, configuration: configuration)
        defer { store.close() }
        return try body(store)
    }

    /// Opens an empty store for the time of an asynchronous block.
    public func withStore<T>(
        _ models: any Model.Type..., configuration: Store.Configuration = Store.Configuration(),
        isolation: isolated (any Actor)? = #isolation, _ body: (Store) async throws -> T
    ) async throws -> T {
        let folder = try folder()
        defer { folder?.remove() }
        let store = try open(at: folder?.path(of: "test.tandem") ?? "", models, configuration: configuration)
        defer { store.close() }
        return try await body(store)
    }

    private func folder() throws -> TemporaryFolder? {
        self == .memory ? nil : try TemporaryFolder()
    }
}
