extension ModelDescription {
    /// The initializer that decodes the properties from a row.
    var rowInitializer: String {
        let values = persisted.enumerated().map { index, property in
            "    self.\(property.spelledName) = try row.value(\(index), as: \(property.type.metatype))"
        }
        return """
            \(access.prefix)init(__row row: Tandem.RowDecoder) throws {
            \((["    self.__state = try row.state"] + values).joined(separator: "\n"))
            }
            """
    }

    /// The function that appends the properties to a row.
    var rowAppend: String {
        let values = persisted.map { "    row.append(self.\($0.spelledName), as: \($0.type.metatype))" }
        if values.isEmpty { return "\(access.prefix)func __append(to row: Tandem.RowEncoder) {}" }
        return """
            \(access.prefix)func __append(to row: Tandem.RowEncoder) {
            \(values.joined(separator: "\n"))
            }
            """
    }
}
