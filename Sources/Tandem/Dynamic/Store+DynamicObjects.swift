extension Store {
    /// The models of the store: those with which it was opened, or those that it records: see
    /// <doc:OpeningWithoutTypes>.
    public var models: [ModelDefinition] { modelDefinitions }

    /// Returns a model by its name in Swift.
    ///
    /// - Parameter name: The name.
    /// - Throws: ``TandemError/Code/unknownModel`` with the names that exist.
    public func model(named name: String) throws -> ModelDefinition { try table(forModel: name).definition }

    /// Returns the objects of a model, to filter and read by names: see ``DynamicResults``.
    ///
    /// ```swift
    /// let cards = try store.objects(named: "Card").where("shop beginsWith 'лен'").all()
    /// ```
    ///
    /// - Parameter model: The model's name in Swift.
    /// - Throws: ``TandemError/Code/unknownModel`` with the names that exist.
    public func objects(named model: String) throws -> DynamicResults {
        DynamicResults(store: self, query: QueryDescription(try self.model(named: model)))
    }

    /// Returns the object with a local ID, or nil if it does not exist.
    ///
    /// - Parameters:
    ///   - model: The model's name in Swift.
    ///   - localID: The object's local ID.
    ///   - includingDeleted: Whether to return an object that is deleted locally.
    /// - Throws: ``TandemError/Code/unknownModel``, or another error if the store can't be read.
    public func object(
        named model: String, localID: LocalID, includingDeleted: Bool = false
    ) throws -> DynamicObject? {
        let definition = try self.model(named: model)
        var query = QueryDescription(definition).filtered(
            .comparison(.localID(of: definition), by: .equal, to: .value(.text(localID.rawValue))))
        if includingDeleted { query = query.living(.any) }
        return try DynamicResults(store: self, query: query).first()
    }

    /// Returns the table of a model.
    func table(forModel name: String) throws -> TableLayout {
        if let table = schema.tables.first(where: { ScalarText.isEqual($0.definition.name, name) }) { return table }
        let names = schema.tables.map(\.definition.name).sorted()
        throw TandemError(
            .unknownModel, message: "The store has no model \"\(name)\".",
            advice: names.isEmpty ? "It has no models." : "Its models are: \(names.joined(separator: ", ")).",
            store: path, model: name)
    }
}

extension ReadTransaction {
    /// Returns the objects of a model in the state that the transaction sees. See ``Store/objects(named:)``.
    ///
    /// - Parameter model: The model's name in Swift.
    /// - Throws: ``TandemError/Code/unknownModel`` with the names that exist.
    public func objects(named model: String) throws -> DynamicResults { try store.objects(named: model) }

    /// Returns the object with a local ID. See ``Store/object(named:localID:includingDeleted:)``.
    ///
    /// - Parameters:
    ///   - model: The model's name in Swift.
    ///   - localID: The object's local ID.
    ///   - includingDeleted: Whether to return an object that is deleted locally.
    /// - Throws: ``TandemError/Code/unknownModel``, or another error if the store can't be read.
    public func object(
        named model: String, localID: LocalID, includingDeleted: Bool = false
    ) throws -> DynamicObject? {
        try store.object(named: model, localID: localID, includingDeleted: includingDeleted)
    }
}

// MARK: References

extension Store {
    /// Returns the target of a reference of an object.
    ///
    /// Returns `nil` if the reference is nil, or if its target is deleted or not in the store.
    ///
    /// - Parameters:
    ///   - property: The name of the reference.
    ///   - object: The object that has it.
    /// - Throws: ``TandemError/Code/invalidQuery`` if the property is not a reference, or another error if the store
    ///   can't be read.
    public func target(of property: String, in object: DynamicObject) throws -> DynamicObject? {
        let target = try targetModel(of: property, in: object, isToMany: false)
        guard case .reference(let id)? = object[property] else { return nil }
        return try self.object(named: target.name, localID: id)
    }

    /// Returns the objects that a list of references names, in the list's order. Objects that are not in the store, or
    /// are deleted, are skipped.
    ///
    /// - Parameters:
    ///   - property: The name of the list.
    ///   - object: The object that has it.
    /// - Throws: ``TandemError/Code/invalidQuery`` if the property is not a list of references, or another error if the
    ///   store can't be read.
    public func targets(of property: String, in object: DynamicObject) throws -> [DynamicObject] {
        let target = try targetModel(of: property, in: object, isToMany: true)
        guard case .references(let ids)? = object[property] else { return [] }
        return try read { _ in try ids.compactMap { try self.object(named: target.name, localID: $0) } }
    }

    /// Returns the references by which objects refer to those of a model.
    ///
    /// - Parameter model: The model's name in Swift.
    /// - Throws: ``TandemError/Code/unknownModel``.
    public func inverseLinks(ofModel model: String) throws -> [InverseReference] {
        InverseReference.all(to: try self.model(named: model), in: schema)
    }

    /// Returns the objects that refer to an object.
    ///
    /// - Parameters:
    ///   - link: One of ``inverseLinks(ofModel:)``.
    ///   - object: The object that they refer to.
    public func objects(linkedBy link: InverseReference, to object: DynamicObject) -> DynamicResults {
        DynamicResults(store: self, query: QueryDescription(link.source).filtered(link.node(to: object.localID)))
    }

    private func targetModel(
        of property: String, in object: DynamicObject, isToMany: Bool
    ) throws -> ModelDefinition {
        let definition = object.model.index(ofProperty: property).map { object.model.properties[$0] }
        guard let definition, definition.isToMany == isToMany, let target = definition.target?.definition else {
            let links = object.model.properties.filter { $0.target != nil && $0.isToMany == isToMany }.map(\.name)
            throw TandemError(
                .invalidQuery,
                message:
                    "\(property) is not a \(isToMany ? "list of references" : "reference") of \(object.model.name).",
                advice: links.isEmpty ? "It has none." : "They are: \(links.joined(separator: ", ")).", store: path,
                model: object.model.name, property: property)
        }
        return target
    }
}
