extension ModelDescription {
    /// The stored property with the object's IDs and state.
    var stateProperty: String {
        "\(access.prefix)var __state\(stateHasDefault ? " = Tandem.ObjectState()" : ": Tandem.ObjectState")"
    }

    /// Whether the state has a default value, which the struct's own initializers need.
    ///
    /// Swift evaluates a default value in each initializer, even in one that assigns the property. Decoding a row would
    /// then create and drop a local ID.
    var stateHasDefault: Bool { !declared.initializers.isEmpty }
}
