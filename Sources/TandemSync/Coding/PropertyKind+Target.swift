import Tandem

extension PropertyKind {
    /// Whether the property refers to other objects.
    var isReference: Bool { target != nil }

    /// The model of the referenced objects.
    var target: String? {
        switch self {
        case .reference(let model), .references(let model): model
        default: nil
        }
    }
}
