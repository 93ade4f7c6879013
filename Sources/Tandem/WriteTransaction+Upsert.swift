import Foundation

extension WriteTransaction {
    /// Inserts an object, or updates the object with its local ID or its server ID.
    ///
    /// If the object has a pending delete, the update restores it.
    ///
    /// - Parameter object: The values of the object.
    /// - Returns: The object in its stored state, with the local ID of the stored object.
    /// - Throws: ``TandemError/Code/duplicateValue`` if another object has its value of a `@Unique` property.
    @discardableResult
    public func upsert<M: Model>(_ object: M) throws -> M {
        try upsert(object, only: nil)
    }

    /// Inserts an object, or updates the named properties of the object with its local ID or its server ID.
    ///
    /// Other properties do not change:
    ///
    /// ```swift
    /// try store.write { try $0.upsert(card, properties: \.shop, \.points) }
    /// ```
    ///
    /// A new object is inserted with all its properties.
    ///
    /// - Parameters:
    ///   - object: The values of the object.
    ///   - properties: The properties to change in an existing object. They belong to the model itself.
    /// - Throws: The errors of ``upsert(_:)``; ``TandemError/Code/invalidValue`` if a property is reached through a
    ///   reference, or belongs to the object's state.
    @discardableResult
    public func upsert<M: Model, each P: StoredProperty>(
        _ object: M, properties: repeat KeyPath<M.Columns, each P>
    ) throws -> M {
        var only: Set<Int> = []
        let columns = M.Columns()
        for path in repeat each properties {
            only.insert(try storedIndex(of: columns[keyPath: path].__column, in: M.self))
        }
        return try upsert(object, only: only)
    }

    /// Inserts objects, or updates the objects with their IDs. See ``upsert(_:)``.
    ///
    /// - Parameter objects: The objects, in this order.
    /// - Throws: The errors of ``upsert(_:)`` for a single object.
    public func upsert<M: Model>(contentsOf objects: some Sequence<M>) throws {
        for object in objects { _ = try upsert(object, only: nil) }
    }

    /// Inserts objects, or updates the named properties of the objects with their IDs. See ``upsert(_:properties:)``.
    ///
    /// - Parameters:
    ///   - objects: The objects, in this order.
    ///   - properties: The properties to change in existing objects.
    /// - Throws: The errors of ``upsert(_:properties:)`` for a single object.
    public func upsert<M: Model, each P: StoredProperty>(
        contentsOf objects: some Sequence<M>, properties: repeat KeyPath<M.Columns, each P>
    ) throws {
        for object in objects { _ = try upsert(object, properties: repeat each properties) }
    }

    /// Returns the index of a property in the model's definition.
    private func storedIndex<M: Model>(of column: ColumnPath, in model: M.Type) throws -> Int {
        guard column.steps.isEmpty, column.model.table == M.__definition.table else {
            throw TandemError(
                .invalidValue, message: "Only the properties of the model itself can be changed.",
                advice: "To change a referenced object, call upsert with that object.", store: store.path,
                model: "\(M.self)", property: column.propertyName)
        }
        guard case .property(let index) = column.column else {
            throw TandemError(
                .invalidValue, message: "An app can't set an object's state.",
                advice: "Pass properties of the model.", store: store.path, model: "\(M.self)")
        }
        return index
    }

    private func upsert<M: Model>(_ object: M, only: Set<Int>?) throws -> M {
        try checkUsable()
        let table = try store.schema.table(M.self)
        let row = connection.row
        row.removeAll()
        object.__append(to: row)
        hasRewrittenLinks = false
        let state = try upsert(row, state: object.__state, into: table, only: only)
        return try refreshed(object, state: state, in: table, isPartial: only != nil)
    }

    /// Inserts a row, or updates the row with its ID.
    func upsert(
        _ row: RowEncoder, state: ObjectState, into table: TableLayout, only: Set<Int>?
    ) throws -> ObjectState {
        guard let statement = try find(state, in: table) else {
            return try insert(row, state: ObjectState(localID: state.localID), into: table)
        }
        if statement.integer(4) != 0 {
            let stored = try self.state(of: statement, in: table)
            statement.reset()
            return try revive(stored, with: row, unresolved: nil, in: table, only: only)
        }
        return try update(statement, with: row, in: table, only: only)
    }
}

/// A stored property, which can be passed to ``WriteTransaction/upsert(_:properties:)``. Do not conform to it.
public protocol StoredProperty: Sendable {
    /// The property's column.
    var __column: ColumnPath { get }
}

extension Property: StoredProperty {}
extension FoldedProperty: StoredProperty {}
extension SortedTextProperty: StoredProperty {}
extension ReferenceProperty: StoredProperty {}
extension ReferencesProperty: StoredProperty {}
