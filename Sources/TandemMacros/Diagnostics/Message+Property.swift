/// Messages about a property's declaration and type.
extension Message {
    static func needsType(_ name: String) -> Message {
        Message("needsType", message: "write the type of '\(name)': a macro sees only the text")
    }

    static let tuplePattern = Message(
        "tuplePattern", message: "declare a model's properties one by one, not as a tuple")

    static let fixedValue = Message(
        "fixedValue",
        message: "a stored constant with a value can't be read back: make it `var` or `static`")

    static func lazy(_ name: String) -> Message {
        Message("lazy", message: "'\(name)' can't be lazy: its value is stored with the object")
    }

    static func implicitlyUnwrapped(_ name: String) -> Message {
        Message("implicitlyUnwrapped", message: "'\(name)' can be nil in the store: make its type optional, with '?'")
    }

    static func nestedOptional(_ name: String) -> Message {
        Message("nestedOptional", message: "'\(name)' has two kinds of nil, but a column has only one")
    }

    static let requiredReference = Message(
        "requiredReference", message: "a reference must be optional: its object may be missing or deleted")

    static let optionalReferences = Message(
        "optionalReferences", message: "a list of references can't be optional: an empty list has the same meaning")

    static let listOfOptionalReferences = Message(
        "listOfOptionalReferences", message: "a list of references can't contain nil")

    static let referenceSet = Message(
        "referenceSet", message: "references to several objects are ordered: use an array")

    static let storedInverse = Message(
        "storedInverse", message: "inverse links are queried, not stored: mark the property with @Inverse")

    static func notDecodable(_ name: String) -> Message {
        Message(
            "notDecodable", message: "'\(name)' has no case in 'CodingKeys', so it needs a default value for decoding")
    }

    // MARK: Inverse links

    static let inverseNeedsVariable = Message("inverseNeedsVariable", message: "@Inverse belongs to a 'var'")

    static let inverseNeedsReference = Message(
        "inverseNeedsReference", message: "@Inverse needs a model's reference: '\\Card.owner'")

    static func inverseNeedsType(_ source: String) -> Message {
        Message("inverseNeedsType", message: "the type of these inverse links must be 'InverseLinks<\(source)>'")
    }

    static let inverseHasValue = Message(
        "inverseHasValue", message: "inverse links can't have a value: the store queries them")
}
