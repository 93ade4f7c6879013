import Foundation

/// The pending changes, in the order of the objects' first changes. See <doc:TheOperationQueue>.
///
/// For example:
///
/// ```swift
/// print(try store.operations.count())
/// for operation in try store.operations.all(of: Card.self) {
///     print(operation.kind, operation.localID, operation.changedProperties)
/// }
/// ```
public struct OperationQueue: Sendable {
    let store: Store

    /// Returns all operations.
    ///
    /// - Throws: ``TandemError`` if the store can't be read.
    public func all() throws -> [PendingOperation] {
        try reader.fetch("", binding: [])
    }

    /// Returns the operations of one model's objects.
    ///
    /// - Parameter model: The model of the objects.
    /// - Throws: ``TandemError`` if the store can't be read.
    public func all<M: Model>(of model: M.Type) throws -> [PendingOperation] {
        try reader.fetch("WHERE o.\"table\" = ?", binding: [.text(try store.schema.table(M.self).table)])
    }

    /// Returns the first operations in a state.
    ///
    /// - Parameters:
    ///   - state: The state of the operations.
    ///   - limit: The maximum number of operations, or `nil` for all.
    /// - Throws: ``TandemError`` if the store can't be read.
    public func all(in state: PendingOperation.State, limit: Int? = nil) throws -> [PendingOperation] {
        try reader.fetch(
            "WHERE \(OperationReader.condition(state))", binding: [.integer(Int64(state.rawValue))], limit: limit)
    }

    /// Returns the operation of an object, or `nil` if it has none.
    ///
    /// - Parameter object: The object, which is found by its local ID.
    /// - Throws: ``TandemError`` if the store can't be read.
    public func operation<M: Model>(of object: M) throws -> PendingOperation? {
        try reader.operation(of: object.localID, in: try store.schema.table(M.self).table)
    }

    /// Returns the number of operations.
    ///
    /// - Throws: ``TandemError`` if the store can't be read.
    public func count() throws -> Int {
        try reader.count("", binding: [])
    }

    /// Returns the number of operations of one model's objects.
    ///
    /// - Parameter model: The model of the objects.
    /// - Throws: ``TandemError`` if the store can't be read.
    public func count<M: Model>(of model: M.Type) throws -> Int {
        try reader.count("WHERE \"table\" = ?", binding: [.text(try store.schema.table(M.self).table)])
    }

    /// Returns the number of operations in a state.
    ///
    /// - Parameter state: The state of the operations.
    /// - Throws: ``TandemError`` if the store can't be read.
    public func count(in state: PendingOperation.State) throws -> Int {
        try reader.count(in: state)
    }

    /// Returns the number of operations of a kind.
    ///
    /// - Parameter kind: The kind of change.
    /// - Throws: ``TandemError`` if the store can't be read.
    public func count(_ kind: PendingOperation.Kind) throws -> Int {
        try reader.count("WHERE \"kind\" = ?", binding: [.integer(Int64(kind.rawValue))])
    }

    /// Returns the first operations of the queue.
    ///
    /// - Parameter limit: The maximum number of operations.
    /// - Throws: ``TandemError`` if the store can't be read.
    public func first(_ limit: Int) throws -> [PendingOperation] {
        try reader.fetch("", binding: [], limit: limit)
    }

    private var reader: OperationReader { OperationReader(store: store) }
}

extension Store {
    /// The operation queue: the pending changes.
    public var operations: OperationQueue { OperationQueue(store: self) }
}

extension ReadTransaction {
    /// The operation queue: the pending changes.
    public var operations: OperationQueue { OperationQueue(store: store) }
}
