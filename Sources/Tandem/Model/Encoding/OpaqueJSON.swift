/// The JSON of a value whose Swift type is unknown: a `Codable` value, or a collection of a later version of Tandem.
struct OpaqueJSON: Equatable, Sendable {
    let node: JSONNode

    /// Returns the codec of a kind whose values are JSON.
    static func codec(_ kind: PropertyKind) -> Codec<OpaqueJSON> {
        // A `Codable` value is plain JSON, and a collection has the store's own notation.
        let isPlain = if case .json = kind { true } else { false }
        return Codec(
            kind: kind, isOptional: false,
            append: { value, row in
                guard isPlain else { return row.append(json: value.node) }
                row.append(.text) { bytes in
                    do {
                        try ExactJSON.writeForeign(value.node.blobsAsText, to: &bytes)
                    } catch {
                        row.failure = error
                    }
                }
            },
            read: { row, column in
                row.text(validating: column)
                return try row.decode(column) { bytes in
                    let utf8 = bytes.bindMemory(to: UInt8.self)
                    return OpaqueJSON(node: isPlain ? try ExactJSON.parseWire(utf8) : try ExactJSON.parse(utf8))
                }
            },
            fromJSON: { OpaqueJSON(node: $0) }, target: nil)
    }
}
