import Tandem

extension DynamicObject {
    /// A short name for a person: the first text that is not empty, or the local ID.
    var title: String {
        for (property, value) in values {
            guard case .string(let text) = value, !text.isEmpty, property.kind == .string else { continue }
            return value.shownText(upTo: 60)
        }
        return localID.rawValue
    }
}
