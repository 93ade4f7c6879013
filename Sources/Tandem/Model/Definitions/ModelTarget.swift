/// The model that a reference leads to.
enum ModelTarget: Sendable {
    /// A model with a Swift type. Its definition is not created together with the reference, because two models may
    /// refer to each other.
    case type(any Model.Type)
    /// A model by its name, and a function that returns its definition.
    case named(String, @Sendable () -> ModelDefinition)

    /// Creates the target with a definition.
    init(_ definition: ModelDefinition) {
        self = .named(definition.name) { definition }
    }

    /// The model's name, for messages.
    var name: String {
        switch self {
        case .type(let type): "\(type)"
        case .named(let name, _): name
        }
    }

    /// The identity of the model. See ``ModelDefinition/identity``.
    var identity: ObjectIdentifier {
        switch self {
        case .type(let type): ObjectIdentifier(type)
        case .named(_, let definition): definition().identity
        }
    }

    /// The definition of the model.
    var definition: ModelDefinition {
        switch self {
        case .type(let type): type.__definition
        case .named(_, let definition): definition()
        }
    }
}
