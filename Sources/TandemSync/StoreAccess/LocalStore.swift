import Foundation
import OpenCombine
import Tandem

/// The store that sync uses: objects, their operations, and the state of sync.
///
/// ``TandemStore`` is Tandem's own. Tests have another one in memory, as an oracle: `LocalStoreSupport`, whose
/// `LocalStoreConformance` checks these requirements of every local store:
///
/// 1. A ``write(_:)`` is one transaction: all of it is kept, or, if its block throws, nothing. A call that throws
///    inside a block that goes on has changed nothing.
/// 2. Writes follow each other. A read sees all that was written before it, and no half of a write.
/// 3. An object has at most one operation. Changes of the app's make one, or join the one that is there, as
///    `PendingOperation.Kind` and ``LocalTransaction/change(_:in:to:)`` say; what a server has sent makes none.
/// 4. No call writes a server's value over a change that was not sent, unless it says so.
/// 5. Values are in their stored form (see `StorageValue`), by the properties' names in Swift; texts and IDs are
///    compared byte by byte.
/// 6. A reference is kept as a local ID. In a ``ServerItem`` and in an ``OutgoingObject`` it stands as a server ID
///    where the server knows the object. One to an object that is not there, or is deleted, is kept by the ID that it
///    was given, and leads to the object as soon as that is there, by its local ID or its server ID.
/// 7. Two live objects have no equal values of a unique property, or of all properties of a unique index; null equals
///    nothing. What would make it so throws `TandemError.Code.duplicateValue`.
///
/// The errors that sync tells apart are `TandemError`s: `.staleOperation` for an operation that is no longer in the
/// queue, `.notFound`, `.duplicateID`, `.duplicateValue`, `.deleteDenied`, `.invalidValue`, `.unknownModel` for a table
/// that the store does not have. Any other error stops what sync is doing, and is thrown to the app.
package protocol LocalStore: Sendable {
    /// The models that it keeps.
    var models: [ModelDefinition] { get }

    /// Reads one state of the store.
    ///
    /// - Parameter body: What it is given is not to be used after it has returned.
    func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReadTransaction) throws -> T) async throws -> T

    /// Writes: all that the block does is kept, or nothing of it.
    ///
    /// It is not cancelled with its caller: what a server has answered is to be kept.
    ///
    /// - Parameter body: What it is given is not to be used after it has returned.
    func write<T: Sendable>(_ body: @escaping @Sendable (any LocalTransaction) throws -> T) async throws -> T

    /// The tables whose operations have changed, after each commit that changed some, from the time when the stream was
    /// asked for; who is slow may be given those of several commits at once. A deferred item is a
    /// change of it.
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

    /// By what two stores of this process are known to be one.
    var lockName: String { get }

    /// A file beside the store by which processes can tell each other that one of them syncs; `nil` if no other process
    /// can open the store.
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

/// Which objects a query asks for: as the store asks it, and as the server is asked.
package struct LocalFilter: Sendable {
    /// As a store with tables asks it.
    package let node: PredicateNode
    /// As the server is asked it: by the names on the wire, with references by server IDs.
    package let remote: RemoteFilter

    package init(node: PredicateNode, remote: RemoteFilter) {
        self.node = node
        self.remote = remote
    }
}
