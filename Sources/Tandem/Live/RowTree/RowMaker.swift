import Foundation

/// A factory for rows from a statement: with their objects, with references only, or in sections.
struct RowMaker: Sendable {
    /// Compiles the columns that precede those of the order.
    let columns: @Sendable (inout SQLCompiler, SQLCompiler.Scope) -> SQL
    /// The number of these columns.
    let width: Int
    /// - Parameters:
    ///   - statement: The statement at a row whose first columns are ``columns``, or those of a whole object.
    ///   - sectionLength: The number of the key's bytes that belong to the section.
    ///   - sectionColumn: The section's column, or `nil` if it is among those of a whole object.
    ///   - box: Caches the object for other factories.
    let make:
        @Sendable (
            _ statement: Statement, _ rowID: Int64, _ key: [UInt8], _ sectionLength: Int, _ sectionColumn: Int32?,
            _ box: ObjectBox, _ path: String
        ) throws -> LiveRow
    /// Creates a function that returns whether two rows of an object are the same to the observer.
    let comparison: @Sendable () -> (_ old: LiveRow, _ new: LiveRow) -> Bool
}

extension RowMaker {
    /// Returns a factory for rows with their objects.
    ///
    /// - Parameter observed: The observed columns, or `nil` for all.
    static func objects<M: Model>(_ model: M.Type, observed: ColumnMask?) -> RowMaker {
        let definition = M.__definition
        return RowMaker(
            columns: { $0.objectColumns(definition, alias: $1.alias) },
            width: RowDecoder.stateColumns.count + definition.properties.count
        ) { statement, rowID, key, _, _, box, path in
            ObjectRow(try box.read(M.self, statement: statement, path: path), rowID: rowID, key: key)
        } comparison: {
            let comparison = ObjectComparison<M>(observed: observed)
            return { old, new in
                comparison.isSame(
                    unsafeDowncast(old, to: ObjectRow<M>.self).object,
                    as: unsafeDowncast(new, to: ObjectRow<M>.self).object)
            }
        }
    }

    /// Returns a factory for rows without their objects. A hash detects changes.
    static func references(_ model: ModelDefinition, observed: ColumnMask?) -> RowMaker {
        let width = RowDecoder.stateColumns.count + model.properties.count
        let digested = (1..<width).filter { (observed ?? .max) & (1 << UInt64(min(63, $0))) != 0 }
        return RowMaker(columns: { $0.objectColumns(model, alias: $1.alias) }, width: width) {
            statement, rowID, key, _, _, _, _ in
            let source = StatementColumns(statement: statement.handle)
            var digest: UInt64 = 0
            for column in digested { digest = (digest << 5 | digest >> 59) &* 31 ^ source.view(column).digest }
            return ReferenceRow(rowID: rowID, key: key, localID: LocalID(try statement.text(1)), digest: digest)
        } comparison: {
            { old, new in
                unsafeDowncast(old, to: ReferenceRow.self).digest == unsafeDowncast(new, to: ReferenceRow.self).digest
            }
        }
    }

    /// Returns a factory for rows with their objects, and with the property value that determines their section.
    static func sections<M: Model, P: PropertyExpression>(_ property: P, observed: ColumnMask?) -> RowMaker
    where P.Root == M, P.Value: Sendable {
        let definition = M.__definition
        let objects = RowMaker.objects(M.self, observed: observed)
        let path = property.__column
        let own = path.steps.isEmpty ? Int32(definition.selectIndex(ofColumn: path.name)) : 0
        return RowMaker(
            columns: { compiler, scope in
                "\(compiler.objectColumns(definition, alias: scope.alias)), \(compiler.column(path, in: scope))"
            }, width: objects.width + 1,
            make: { statement, rowID, key, sectionLength, sectionColumn, box, storePath in
                let value = try property.value(statement.row(), column: sectionColumn ?? own, store: storePath)
                return SectionedRow(
                    try box.read(M.self, statement: statement, path: storePath), in: value, length: sectionLength,
                    rowID: rowID,
                    key: key)
            }, comparison: objects.comparison)
    }

    /// Makes rows with their objects and the first letter that determines their section.
    ///
    /// - Parameter sections: The order of the sections. A row's key contains the letter.
    static func letters<M: Model>(_ model: M.Type, in sections: RowOrder, observed: ColumnMask?) -> RowMaker {
        let objects = RowMaker.objects(model, observed: observed)
        return RowMaker(
            columns: objects.columns, width: objects.width,
            make: { statement, rowID, key, sectionLength, _, box, path in
                SectionedRow(
                    try box.read(M.self, statement: statement, path: path),
                    in: sections.letter(key.prefix(sectionLength)),
                    length: sectionLength, rowID: rowID, key: key)
            }, comparison: objects.comparison)
    }
}

extension ObjectBox {
    /// Reads the object from a statement, once.
    func read<M: Model>(_ model: M.Type, statement: Statement, path: String) throws -> M {
        if let object = object as? M { return object }
        let object = try M.read(statement.row(), path: path)
        self.object = object
        return object
    }
}

extension ModelDefinition {
    /// Returns the index of a column in the list of columns that objects are read from.
    func selectIndex(ofColumn name: String) -> Int {
        RowDecoder.stateColumns.firstIndex(of: name)
            ?? RowDecoder.stateColumns.count + (properties.firstIndex { $0.column == name } ?? 0)
    }
}
