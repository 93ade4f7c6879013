/// The model that a reference leads to.
struct ModelTarget: Sendable {
    /// The model's name, for messages.
    let name: String
    private let makeIdentity: @Sendable () -> ObjectIdentifier
    private let makeDefinition: @Sendable () -> ModelDefinition

    /// Creates the target with a Swift type.
    init<M: Model>(_ type: M.Type) {
        name = "\(M.self)"
        makeIdentity = { ObjectIdentifier(M.self) }
        // Two definitions may refer to each other, so this one can't be created now.
        makeDefinition = { M.__definition }
    }

    /// Creates the target with a definition.
    init(_ definition: ModelDefinition) {
        self.init(name: definition.name) { definition }
    }

    /// Creates the target with a function that returns its definition.
    init(name: String, definition: @escaping @Sendable () -> ModelDefinition) {
        self.name = name
        makeIdentity = { definition().identity }
        makeDefinition = definition
    }

    /// The identity of the model. See ``ModelDefinition/identity``.
    var identity: ObjectIdentifier { makeIdentity() }

    /// The definition of the model.
    var definition: ModelDefinition { makeDefinition() }
}
