extension ModelDescription {
    /// The object's IDs and state, as a stored property.
    var stateProperty: String {
        "\(access.prefix)var __state\(stateHasDefault ? " = Tandem.ObjectState()" : ": Tandem.ObjectState")"
    }

    /// Whether the state has a default, which the struct's own initialisers need.
    ///
    /// Swift makes a default in every initialiser, also in one that assigns the property: the one that reads a row would
    /// make a new local ID first, only to drop it.
    var stateHasDefault: Bool { !declared.initializers.isEmpty }
}
