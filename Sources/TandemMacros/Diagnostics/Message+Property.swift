/// What can be wrong with a property: how it is declared, and its type.
extension Message {
    static func needsType(_ name: String) -> Message {
        Message("needsType", "write the type of '\(name)': a macro sees only the text")
    }

    static let tuplePattern = Message("tuplePattern", "declare a model's properties one by one, not as a tuple")

    static let fixedValue = Message(
        "fixedValue",
        "a stored property with a fixed value can't be read back: make it `var` or `static`")

    static func lazy(_ name: String) -> Message {
        Message("lazy", "'\(name)' can't be lazy: it is stored with the object, so its value must be there")
    }

    static func implicitlyUnwrapped(_ name: String) -> Message {
        Message("implicitlyUnwrapped", "'\(name)' can be nil in the store: make its type an optional, with '?'")
    }

    static func nestedOptional(_ name: String) -> Message {
        Message("nestedOptional", "'\(name)' has two kinds of nil, and a column only one")
    }

    static let requiredReference = Message(
        "requiredReference", "a reference is optional: its object may not have arrived, or be deleted")

    static let optionalReferences = Message(
        "optionalReferences", "a list of references is never nil: an empty list says the same")

    static let listOfOptionalReferences = Message(
        "listOfOptionalReferences", "a list of references holds no nil: what is not there is not in the list")

    static let referenceSet = Message(
        "referenceSet", "references to many are kept in order: write them as an array")

    static let storedInverse = Message(
        "storedInverse", "inverse links are found, not stored: mark the property with @Inverse")

    static func notDecodable(_ name: String) -> Message {
        Message(
            "notDecodable", "'\(name)' has no case in 'CodingKeys', so it needs a default value to be decoded with")
    }

    // MARK: Inverse links

    static let inverseNeedsVariable = Message("inverseNeedsVariable", "@Inverse belongs to a 'var'")

    static let inverseNeedsReference = Message(
        "inverseNeedsReference", "@Inverse takes a model's reference: '\\Card.owner'")

    static func inverseNeedsType(_ source: String) -> Message {
        Message("inverseNeedsType", "the type of these links is 'InverseLinks<\(source)>'")
    }

    static let inverseHasValue = Message(
        "inverseHasValue", "inverse links have no value of their own: the store finds them")
}
