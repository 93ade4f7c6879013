import Foundation

extension WriteTransaction {
    /// Adds an object, or makes the one that has its local ID, or its server ID, what it says.
    ///
    /// Over an object that is deleted here and not yet on the server it is an update that brings it back. In a write
    /// from a server, the local-only properties of an object that is there stay as they are.
    ///
    /// - Returns: The object as it is in the store, with the local ID of the stored one.
    /// - Throws: ``TandemError/Code/duplicateValue``; in a write from a server ``TandemError/Code/unsentChanges``.
    @discardableResult
    public func upsert<M: Model>(_ object: M) throws -> M {
        try upsert(object, only: nil)
    }

    /// Adds an object, or changes the named properties of the one that has its local ID, or its server ID.
    ///
    /// What is not named stays as it is:
    ///
    /// ```swift
    /// try store.write { try $0.upsert(card, properties: \.shop, \.points) }
    /// ```
    ///
    /// A new object is added whole.
    @discardableResult
    public func upsert<M: Model, each P: StoredProperty>(
        _ object: M, properties: repeat KeyPath<M.Columns, each P>
    ) throws -> M {
        var only: Set<Int> = []
        let columns = M.Columns()
        for path in repeat each properties {
            guard let index = columns[keyPath: path].__storedIndex else {
                throw TandemError(
                    .invalidValue, "An object's state is not the app's to set.",
                    advice: "Name properties of the model.", store: store.path, model: "\(M.self)")
            }
            only.insert(index)
        }
        return try upsert(object, only: only)
    }

    /// Adds objects, or makes those that have their IDs what they say. See ``upsert(_:)``.
    public func upsert<M: Model>(contentsOf objects: some Sequence<M>) throws {
        for object in objects { _ = try upsert(object, only: nil) }
    }

    /// Adds objects, or changes the named properties of those that have their IDs. See ``upsert(_:properties:)``.
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
        let isPartial = only != nil || (origin == .server && table.sentProperties != nil)
        return try stored(object, state, in: table, isPartial: isPartial)
    }

    /// Inserts a row, or updates the one that has its ID.
    func upsert(
        _ row: RowBuffer, state: ObjectState, into table: TableLayout, only: Set<Int>?
    ) throws -> ObjectState {
        guard let statement = try find(state, in: table) else { return try insert(row, state: state, into: table) }
        if statement.integer(4) != 0, origin == .app {
            let stored = try self.state(of: statement, table)
            statement.reset()
            return try revive(stored, with: row, nil, in: table, only: only)
        }
        if statement.integer(4) != 0 {
            let stored = try self.state(of: statement, table)
            statement.reset()
            try refuseUnsent(stored, table)
        }
        // A server says nothing of local-only properties: what the app has set stays.
        let only = only ?? (origin == .server ? table.sentProperties : nil)
        return try update(statement, with: row, in: table, only: only, received: state)
    }

    /// Finds the object that has a local ID or a server ID. In a write from a server the server ID counts first.
    func find(_ state: ObjectState, in table: TableLayout) throws -> Statement? {
        let statements = try connection.tableStatements(table)
        if origin == .server, let serverID = state.serverID {
            if let found = try find(serverID, in: table) { return found }
            // An object made here, whose insert was sent and whose answer was lost, is known by its own ID.
            if let found = try statements.find(LocalID(serverID.rawValue)) {
                let own: ObjectState
                do {
                    defer { found.reset() }
                    own = try self.state(of: found, table)
                }
                if try mayBeOnServer(own, in: table) { return try statements.find(own.localID, rowID: own.rowID) }
            }
        }
        if let found = try statements.find(state.localID, rowID: state.rowID) {
            // The object of this local ID is another one if the server knows it by another ID.
            guard origin == .server, let serverID = state.serverID, let other = try found.optionalText(2),
                !ScalarText.isEqual(other, serverID.rawValue)
            else { return found }
            found.reset()
            return nil
        }
        if origin == .app, let serverID = state.serverID { return try find(serverID, in: table) }
        return nil
    }

    func find(_ serverID: ServerID, in table: TableLayout) throws -> Statement? {
        let statements = try connection.tableStatements(table)
        guard let place = try statements.place(of: serverID) else { return nil }
        return try statements.find(place.localID, rowID: place.rowID)
    }
}

/// A property that is stored: one that ``WriteTransaction/upsert(_:properties:)`` can name.
public protocol StoredProperty: Sendable {
    /// The property's index in the model's definition, `nil` for the object's state.
    var __storedIndex: Int? { get }
}

extension Property: StoredProperty {
    public var __storedIndex: Int? { __column.storedIndex }
}

extension FoldedProperty: StoredProperty {
    public var __storedIndex: Int? { __column.storedIndex }
}

extension ReferenceProperty: StoredProperty {
    public var __storedIndex: Int? { __propertyIndex }
}

extension ReferencesProperty: StoredProperty {
    public var __storedIndex: Int? { __propertyIndex }
}

extension ColumnPath {
    /// The index of the property, if it is one of the query's own model.
    var storedIndex: Int? {
        if steps.isEmpty, case .property(let index) = column { index } else { nil }
    }
}
