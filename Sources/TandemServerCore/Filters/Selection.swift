/// Parses `$select`.
enum Selection {
    /// Returns the listed names, or `nil` if all properties are selected.
    ///
    /// - Parameter isKnown: Whether the table has a property with this name.
    static func names(_ text: String, isKnown: (String) -> Bool) throws(FilterProblem) -> [String]? {
        let names = text.trimmed.split(separator: ",").map(\.trimmed)
        for name in names where !isName(name) {
            throw FilterProblem("Syntax error in $select: '\(name)' is not a property name. Separate names by commas.")
        }
        if names.isEmpty || names.contains("*") { return nil }
        for name in names where !isKnown(name) {
            throw FilterProblem("Could not find a property named '\(name)'", kind: .unknownProperty)
        }
        return names
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && !"'\"()".unicodeScalars.contains($0) }
    }
}
