import Foundation
import Tandem

/// The kinds of store for parameterized tests: one test body runs on all of them.
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
    /// A store in memory.
    case memory
    /// A file in its own folder, which is removed at the end.
    case file
    /// An encrypted file with AES-256-GCM.
    case encrypted
    /// An encrypted file in the format of SQLCipher 4.
    case sqlCipher

    /// The kind's name.
    public var description: String { rawValue }

    /// The key of the encrypted kinds. It is a raw key, which needs no key derivation.
    public static let key = CipherKey.raw([UInt8](0..<32))

    /// The encryption profile of the kind, if it is encrypted.
    public var profile: CipherProfile? {
        switch self {
        case .memory, .file: nil
        case .encrypted: .aes256gcm
        case .sqlCipher: .sqlCipher4
        }
    }

    /// Opens a store of this kind at a path. A store in memory ignores the path.
    ///
    /// - Parameters:
    ///   - path: The path of the file, for the kinds on disk.
    ///   - models: The models of the store.
    ///   - configuration: The options for opening the store.
    /// - Throws: `TandemError` if the store can't be opened.
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

    /// Opens an empty store for the duration of a block.
    ///
    /// - Parameters:
    ///   - models: The models of the store.
    ///   - configuration: The options for opening the store.
    ///   - body: Uses the store, which is closed and removed afterwards.
    /// - Throws: The errors of the block; `TandemError` if the store can't be opened; the error of `FileManager` if the
    ///   store's folder can't be created.
    public func withStore<T>(
        _ models: any Model.Type..., configuration: Store.Configuration = Store.Configuration(),
        body: (Store) throws -> T
    ) throws -> T {
        let folder = try folder()
        defer { folder?.remove() }
        let store = try open(at: folder?.path(of: "test.tandem") ?? "", models, configuration: configuration)
        defer { store.close() }
        return try body(store)
    }

    /// Opens an empty store for the duration of an asynchronous block.
    ///
    /// - Parameters:
    ///   - models: The models of the store.
    ///   - configuration: The options for opening the store.
    ///   - isolation: The actor on which the block runs. The default is the caller's actor.
    ///   - body: Uses the store, which is closed and removed afterwards.
    /// - Throws: The errors of the block; `TandemError` if the store can't be opened; the error of `FileManager` if the
    ///   store's folder can't be created.
    public func withStore<T>(
        _ models: any Model.Type..., configuration: Store.Configuration = Store.Configuration(),
        isolation: isolated (any Actor)? = #isolation, body: (Store) async throws -> T
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
