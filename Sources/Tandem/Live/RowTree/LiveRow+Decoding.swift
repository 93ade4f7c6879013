// The values of a row were checked when it was read from the store (see RowPacker). Only an app's own decoding, of an
// enum or a `Codable` value, can fail later. It fails if it gives different results for the same value.

extension LiveRow {
    /// Decodes the object of a row that ``RowMaker/objects(_:observed:)`` or a factory of sections made.
    func object<M: Model>(_ model: M.Type) -> M {
        read(columns: M.__definition.selectWidth) { try M(__row: $0) }
    }

    /// Decodes the value that determines the row's section.
    func sectionValue<P: PropertyExpression>(_ property: P, store: String) -> P.Value {
        let width = P.Root.__definition.selectWidth
        return read(columns: width + 1) { try property.value($0, column: Int32(width), store: store) }
    }

    /// Decodes the letter that determines the row's section, or `nil` if the section has none.
    func sectionLetter(of model: ModelDefinition) -> String? {
        withView { $0.withColumns(model.selectWidth + 1) { $0[model.selectWidth].text } }
    }

    /// The number of the key's bytes that belong to the section.
    func sectionLength(of model: ModelDefinition) -> Int {
        withView { Int($0.withColumns(model.selectWidth + 2) { $0[model.selectWidth + 1].integer }) }
    }

    /// Reads the row's columns.
    @inline(__always)
    func read<T>(columns: Int, _ body: (RowDecoder) throws -> T) -> T {
        withView { row in
            row.withColumns(columns) { columns in
                do {
                    return try body(RowDecoder(columns))
                } catch {
                    preconditionFailure("A value that was read before can't be decoded again: \(error)")
                }
            }
        }
    }
}
