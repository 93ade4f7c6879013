/// A factory for rows from a statement: with their objects, with references only, or in sections.
struct RowMaker: Sendable {
    /// Appends a row, or its payload, to a buffer.
    typealias Appending =
        @Sendable (
            _ statement: Statement, _ position: Position, _ buffer: RowBuffer, _ path: String
        ) throws -> Void

    /// The position of a row.
    struct Position {
        let rowID: Int64
        let key: [UInt8]
        /// The number of the key's bytes that belong to the section.
        let sectionLength: Int
        /// The section's column, or `nil` if it is among those of a whole object.
        let sectionColumn: Int32?
    }

    /// Compiles the columns that precede those of the order.
    let columns: @Sendable (inout SQLCompiler, SQLCompiler.Scope) -> SQL
    /// The number of these columns.
    let width: Int
    /// Appends a row to a buffer. The statement is at a row whose first columns are ``columns``, or those of a whole
    /// object.
    let append: Appending
    /// Creates a function that returns whether two rows of an object are the same to the observer.
    let comparison: @Sendable () -> (_ old: LiveRow, _ new: LiveRow) -> Bool

    /// Makes a single row.
    func make(_ statement: Statement, at position: Position, path: String) throws -> LiveRow {
        let buffer = RowBuffer()
        try append(statement, position, buffer, path)
        return LiveRow(buffer)
    }

    /// Returns a function that appends rows with a given payload.
    private static func appending(_ appendPayload: @escaping Appending) -> Appending {
        { statement, position, buffer, path in
            let localID = try statement.row().textBytes(1)
            let row = position.key.withUnsafeBytes { buffer.begin(rowID: position.rowID, key: $0, localID: localID) }
            do {
                try appendPayload(statement, position, buffer, path)
            } catch {
                buffer.discard(row)
                throw error
            }
            buffer.finish(row)
        }
    }

    /// Returns a function that appends an object's columns as a payload.
    private static func packing(_ packer: RowPacker) -> Appending {
        { statement, position, buffer, path in
            try position.key.withUnsafeBytes { try packer.append(statement, key: $0, to: buffer, path: path) }
        }
    }
}

extension RowMaker {
    /// Returns a factory for rows with their objects: see ``LiveRow/object(_:)``.
    ///
    /// - Parameter observed: The observed columns, or `nil` for all.
    static func objects(_ definition: ModelDefinition, observed: ColumnMask?) -> RowMaker {
        let packer = RowPacker(definition)
        return RowMaker(
            columns: { $0.objectColumns(definition, alias: $1.alias) }, width: packer.width,
            append: appending(packing(packer)),
            comparison: {
                { old, new in
                    old.withView { old in
                        new.withView { old.isSame(as: $0, observed: observed ?? .max, count: packer.width) }
                    }
                }
            })
    }

    /// Returns a factory for rows without their objects. A hash detects changes.
    static func references(_ model: ModelDefinition, observed: ColumnMask?) -> RowMaker {
        let width = RowDecoder.stateColumns.count + model.properties.count
        let digested = (1..<width).filter { (observed ?? .max) & (1 << UInt64(min(63, $0))) != 0 }
        return RowMaker(
            columns: { $0.objectColumns(model, alias: $1.alias) }, width: width,
            append: appending { statement, _, buffer, _ in
                let source = StatementColumns(statement)
                var digest: UInt64 = 0
                for column in digested { digest = (digest << 5 | digest >> 59) &* 31 ^ source.view(column).digest }
                buffer.append(digest, count: MemoryLayout<UInt64>.size)
            },
            comparison: { { old, new in old.withView { old in new.withView { old.hasPayload(of: $0) } } } })
    }

    /// Returns a factory for rows with their objects, and with the property value that determines their section: see
    /// ``LiveRow/sectionValue(_:store:)``.
    static func sections<M: Model, P: PropertyExpression>(_ property: P, observed: ColumnMask?) -> RowMaker
    where P.Root == M, P.Value: Sendable {
        let definition = M.__definition
        let objects = RowMaker.objects(definition, observed: observed)
        let appendObject = packing(RowPacker(definition))
        let path = property.__column
        let own = path.steps.isEmpty ? Int32(definition.selectIndex(ofColumn: path.name)) : 0
        return RowMaker(
            columns: { compiler, scope in
                "\(compiler.objectColumns(definition, alias: scope.alias)), \(compiler.column(path, in: scope))"
            }, width: objects.width + 1,
            append: appending { statement, position, buffer, storePath in
                try appendObject(statement, position, buffer, storePath)
                let column = position.sectionColumn ?? own
                // A value that can't be read is reported here.
                _ = try property.value(statement.row(), column: column, store: storePath)
                try RowPacker.append(path, from: statement, index: column, to: buffer)
                buffer.append(integer: Int64(position.sectionLength))
            }, comparison: objects.comparison)
    }

    /// Makes rows with their objects and the first letter that determines their section: see
    /// ``LiveRow/sectionLetter(of:)``.
    ///
    /// - Parameter sections: The order of the sections. A row's key contains the letter.
    static func letters<M: Model>(_ model: M.Type, in sections: RowOrder, observed: ColumnMask?) -> RowMaker {
        let objects = RowMaker.objects(M.__definition, observed: observed)
        let appendObject = packing(RowPacker(M.__definition))
        return RowMaker(
            columns: objects.columns, width: objects.width,
            append: appending { statement, position, buffer, path in
                try appendObject(statement, position, buffer, path)
                let letter = sections.letter(position.key.prefix(position.sectionLength))
                buffer.append(letter)
                buffer.append(integer: Int64(position.sectionLength))
            }, comparison: objects.comparison)
    }
}

extension RowBuffer {
    /// Appends a text, or NULL.
    fileprivate func append(_ text: String?) {
        guard var text else { return appendNull() }
        text.withUTF8 { text in
            let key = UnsafeRawBufferPointer(start: nil, count: 0)
            append(text: UnsafeRawBufferPointer(text), key: key, mayPack: false)
        }
    }
}

extension ModelDefinition {
    /// Returns the index of a column in the list of columns that objects are read from.
    func selectIndex(ofColumn name: String) -> Int {
        RowDecoder.stateColumns.firstIndex(of: name)
            ?? RowDecoder.stateColumns.count + (properties.firstIndex { $0.column == name } ?? 0)
    }

    /// The number of columns that objects are read from.
    var selectWidth: Int { RowDecoder.stateColumns.count + properties.count }
}
