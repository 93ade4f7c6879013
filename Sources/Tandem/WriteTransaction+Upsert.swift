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
    ///   - properties: The properties to change in an existing object.
    /// - Throws: The errors of ``upsert(_:)``.
    @discardableResult
    public func upsert<M: Model, each P: StoredProperty>(
        _ object: M, properties: repeat KeyPath<M.Columns, each P>
    ) throws -> M {
        var only: Set<Int> = []
        let columns = M.Columns()
        for path in repeat each properties {
            guard let index = columns[keyPath: path].__storedIndex else {
                throw TandemError(
                    .invalidValue, message: "An app can't set an object's state.",
                    advice: "Pass properties of the model.", store: store.path, model: "\(M.self)")
            }
            only.insert(index)
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
    /// - Throws: The errors of ``upsert(_:)`` for a single object.
    public func upsert<M: Model, each P: StoredProperty>(
        contentsOf objects: some Sequence<M>, properties: repeat KeyPath<M.Columns, each P>
    ) throws {
        for object in objects { _ = try upsert(object, properties: repeat each properties) }
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

/// A stored property, which can be passed to ``WriteTransaction/upsert(_:properties:)``.
public protocol StoredProperty: Sendable {
    /// The property's index in the model's definition, or `nil` for the object's state.
    var __storedIndex: Int? { get }
}

extension Property: StoredProperty {
    /// The property's index in the model's definition, or `nil` for the object's state.
    public var __storedIndex: Int? { __column.storedIndex }
}

extension FoldedProperty: StoredProperty {
    /// The property's index in the model's definition.
    public var __storedIndex: Int? { __column.storedIndex }
}

extension ReferenceProperty: StoredProperty {
    /// The property's index in the model's definition.
    public var __storedIndex: Int? { __propertyIndex }
}

extension ReferencesProperty: StoredProperty {
    /// The property's index in the model's definition.
    public var __storedIndex: Int? { __propertyIndex }
}

extension ColumnPath {
    /// The index of the property, if it belongs to the query's own model.
    var storedIndex: Int? {
        if steps.isEmpty, case .property(let index) = column { index } else { nil }
    }
}
