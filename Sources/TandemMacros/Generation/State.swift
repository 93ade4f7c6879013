extension ModelDescription {
    /// The object's IDs and state, as a stored property.
    var stateProperty: String {
        "\(access.prefix)var __state = Tandem.ObjectState()"
    }
}
