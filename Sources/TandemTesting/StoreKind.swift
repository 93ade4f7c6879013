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

    public var description: String { rawValue }

    /// Opens an empty store for the time of a block.
    public func withStore<T>(
        _ models: any Model.Type..., configuration: Store.Configuration = Store.Configuration(),
        _ body: (Store) throws -> T
    ) throws -> T {
        switch self {
        case .memory:
            let store = try Store(inMemoryModels: models, configuration: configuration)
            defer { store.close() }
            return try body(store)
        case .file:
            return try TemporaryFolder.with { folder in
                let store = try Store(
                    at: folder.path(of: "test.tandem"), models: models, configuration: configuration)
                defer { store.close() }
                return try body(store)
            }
        }
    }

    /// Opens an empty store for the time of an asynchronous block.
    public func withStore<T>(
        _ models: any Model.Type..., configuration: Store.Configuration = Store.Configuration(),
        isolation: isolated (any Actor)? = #isolation, _ body: (Store) async throws -> T
    ) async throws -> T {
        switch self {
        case .memory:
            let store = try Store(inMemoryModels: models, configuration: configuration)
            defer { store.close() }
            return try await body(store)
        case .file:
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let store = try Store(at: folder.path(of: "test.tandem"), models: models, configuration: configuration)
            defer { store.close() }
            return try await body(store)
        }
    }
}
