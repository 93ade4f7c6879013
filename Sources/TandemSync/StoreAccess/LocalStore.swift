import Foundation
import OpenCombine
import Tandem

/// The store that sync uses: objects, their operations, and the state of sync.
///
/// ``TandemStore`` is Tandem's own. Tests have a second one in memory, as an oracle: `LocalStoreSupport`. Its
/// `LocalStoreConformance` checks these requirements of every local store:
///
/// 1. A ``write(_:)`` is atomic. If its block throws, nothing is stored. A call that throws inside a block that
///    continues has changed nothing.
/// 2. Writes are serialized. A read sees all earlier writes, and no part of an unfinished one.
/// 3. An object has at most one operation. A change by the app creates an operation or joins the existing one, as
///    described for `PendingOperation.Kind` and ``LocalTransaction/change(_:in:to:)``. A change by a server creates
///    none.
/// 4. No call overwrites an unsent change with a server's value, unless its documentation says so.
/// 5. Values are in their stored form (see `StorageValue`), by the properties' names in Swift; texts and IDs are
///    compared byte by byte.
/// 6. A reference is stored as a local ID. In a ``ServerItem`` and an ``OutgoingObject`` it is a server ID if the
///    server has stored the object. A reference to a missing or deleted object keeps the ID that it was given. It
///    resolves when an object with that local ID or server ID arrives.
/// 7. Two live objects have no equal values of a unique property, or of all properties of a unique index; null equals
///    nothing. A change that violates this throws `TandemError.Code.duplicateValue`.
///
/// Sync distinguishes these `TandemError`s:
/// - `.staleOperation` for an operation that is no longer in the queue;
/// - `.unknownModel` for an unknown table;
/// - `.notFound`, `.duplicateID`, `.duplicateValue`, `.deleteDenied` and `.invalidValue`.
///
/// Any other error stops the sync and is thrown to the app.
package protocol LocalStore: Sendable {
    /// The models of the store.
    var models: [ModelDefinition] { get }

    /// Reads one state of the store.
    ///
    /// - Parameter body: A block whose argument must not be used after the block has returned.
    func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReadTransaction) throws -> T) async throws -> T

    /// Runs a block as an atomic write.
    ///
    /// The write is not cancelled with its caller: the response of a server must be stored.
    ///
    /// - Parameter body: A block whose argument must not be used after the block has returned.
    func write<T: Sendable>(_ body: @escaping @Sendable (any LocalTransaction) throws -> T) async throws -> T

    /// The tables whose operations or deferred items have changed, after each commit that changed some. The stream
    /// begins when it is requested. A slow consumer may get the tables of several commits at once.
    var operationChanges: AsyncStream<Set<String>> { get }

    /// Calls a closure after each commit that changed operations, until the result is cancelled or released.
    ///
    /// A store calls it before the write returns if it can. By default it follows ``operationChanges``.
    ///
    /// - Parameters:
    ///   - onChange: Called on any thread. Calls can be coalesced.
    ///   - onEnd: Called when the store closes.
    func observeOperations(
        onChange: @escaping @Sendable () -> Void, onEnd: @escaping @Sendable () -> Void
    ) -> AnyCancellable

    /// The name by which two stores of this process are recognized as the same.
    var lockName: String { get }

    /// A file beside the store that serves as a lock between processes that sync; `nil` if no other process can open
    /// the store.
    var lockPath: String? { get }
}

extension LocalStore {
    package func observeOperations(
        onChange: @escaping @Sendable () -> Void, onEnd: @escaping @Sendable () -> Void
    ) -> AnyCancellable {
        let changes = operationChanges
        let task = Task {
            for await _ in changes { onChange() }
            onEnd()
        }
        return AnyCancellable { task.cancel() }
    }
}

/// The filter of a query, for the store and for the server.
package struct LocalFilter: Sendable {
    /// The filter for the store.
    package let node: PredicateNode
    /// The filter for the server, with wire names, and references by server IDs.
    package let remote: RemoteFilter

    package init(node: PredicateNode, remote: RemoteFilter) {
        self.node = node
        self.remote = remote
    }
}
