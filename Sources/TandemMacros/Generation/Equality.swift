extension ModelDescription {
    /// The function that compares the state and all stored properties, bit by bit and scalar by scalar.
    var equals: String? {
        if declared.hasEquals { return nil }
        let comparisons =
            ["    lhs.__state == rhs.__state"]
            + persisted.map { "        && Tandem.__same(lhs.\($0.spelledName), rhs.\($0.spelledName))" }
        return """
            \(access.prefix)static func == (lhs: \(typeName), rhs: \(typeName)) -> Swift.Bool {
            \(comparisons.joined(separator: "\n"))
            }
            """
    }

    /// The function that hashes the local ID, which equal values share.
    var hash: String? {
        if declared.hasHash { return nil }
        return """
            \(access.prefix)func hash(into hasher: inout Swift.Hasher) {
                self.__state.hash(into: &hasher)
            }
            """
    }
}
