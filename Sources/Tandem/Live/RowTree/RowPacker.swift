import Foundation

/// The copying of a model's columns from a statement into the payload of a row.
///
/// Each value is checked as if it were read as its property. An object that is decoded later can therefore not fail: a
/// value that can't be read is reported when the row is read from the store. Another program may have written a value
/// in another storage class than that of its property. Such a value is converted as SQLite does when the property is
/// read.
struct RowPacker: Sendable {
    fileprivate enum Form {
        case text, integer, unsigned, real, blob
    }

    private struct Column: Sendable {
        let index: Int32
        let form: Form
        let isOptional: Bool
        /// Whether each value must be read, because its bytes can be wrong.
        let isChecked: Bool
        /// Whether the column is read as a text only, and never as bytes.
        let isPlainText: Bool
    }

    /// The index of the server ID's column.
    private static let serverID: Int32 = 2

    private let columns: [Column]
    /// The functions that read the columns. They are separate, so that the other data of a column is copied without
    /// reference counting.
    private let checks: [@Sendable (RowDecoder, Int32) throws -> Void]
    private let definition: ModelDefinition

    /// The number of columns, which include rowid and local ID.
    var width: Int { columns.count + 2 }

    init(_ definition: ModelDefinition) {
        self.definition = definition
        let state = RowDecoder.stateColumns.enumerated().dropFirst(2).map { index, name in
            Column(
                index: Int32(index), form: Self.stateForm(name), isOptional: true, isChecked: false, isPlainText: true)
        }
        let properties = definition.properties.enumerated().map { index, property in
            Column(
                index: Int32(RowDecoder.stateColumns.count + index), form: Self.form(property.kind),
                isOptional: property.isOptional, isChecked: property.inlineEncoding == nil,
                isPlainText: property.kind.isPlainText)
        }
        columns = state + properties
        checks = state.map(Self.check) + definition.properties.map(\.check)
    }

    /// Returns a function that reads a column of the state.
    private static func check(_ column: Column) -> @Sendable (RowDecoder, Int32) throws -> Void {
        guard column.form == .real else { return { _, _ in } }
        return { row, index in _ = try Date.__read(row, column: index) }
    }

    private static func stateForm(_ name: String) -> Form {
        switch name {
        case "localID", "serverID", "version": .text
        case "createdAt", "updatedAt": .real
        default: .integer
        }
    }

    private static func form(_ kind: PropertyKind) -> Form {
        switch kind {
        case .bool, .integer: .integer
        case .unsigned64: .unsigned
        case .double, .float, .date: .real
        case .string, .url, .collection, .json, .reference, .references, .attachment: .text
        case .data, .uuid, .decimal, .bigInt, .bigUInt: .blob
        }
    }

    /// Appends the columns of the statement's current row, which begin with those of an object.
    ///
    /// - Parameter key: The sort key, which can contain the text of a column.
    /// - Throws: A ``TandemError`` if a value can't be read as its property.
    func append(_ statement: Statement, key: UnsafeRawBufferPointer, to buffer: RowBuffer, path: String) throws {
        do {
            for place in columns.indices { try append(place, from: statement, key: key, to: buffer) }
        } catch let error as InvalidStoredValue {
            throw TandemError(unreadable: error, in: definition, base: 0, store: path)
        }
    }

    @inline(__always)
    private func append(
        _ place: Int, from statement: Statement, key: UnsafeRawBufferPointer, to buffer: RowBuffer
    ) throws {
        let column = columns[place]
        let type = statement.type(column.index)
        if type == StorageClass.null {
            if !column.isOptional { try checks[place](statement.row(), column.index) }
            return buffer.appendNull()
        }
        if column.isChecked || !column.form.isNatural(type) { try checks[place](statement.row(), column.index) }
        if column.index == Self.serverID, type == StorageClass.text {
            // An object that came from a server has its server ID as local ID.
            let row = statement.row()
            if RowView.order(try row.textBytes(Self.serverID), try row.textBytes(1)) == 0 {
                return buffer.appendLocalID()
            }
        }
        try Self.append(column, type: type, from: statement, key: key, to: buffer)
    }

    /// Appends a value of another model's column, which was read without an error.
    ///
    /// - Parameter index: The column of the statement.
    static func append(_ path: ColumnPath, from statement: Statement, index: Int32, to buffer: RowBuffer) throws {
        let type = statement.type(index)
        if type == StorageClass.null { return buffer.appendNull() }
        let form =
            switch path.column {
            case .property(let index): form(path.model.properties[index].kind)
            case .state(let name, _, _): stateForm(name)
            case .folded: Form.blob
            case .firstLetter: Form.text
            }
        let column = Column(
            index: index, form: form, isOptional: true, isChecked: false,
            isPlainText: path.definition?.kind.isPlainText ?? true)
        let key = UnsafeRawBufferPointer(start: nil, count: 0)
        try append(column, type: type, from: statement, key: key, to: buffer)
    }

    /// Appends a value that is not NULL.
    @inline(__always)
    private static func append(
        _ column: Column, type: Int32, from statement: Statement, key: UnsafeRawBufferPointer, to buffer: RowBuffer
    ) throws {
        switch column.form {
        case .integer: buffer.append(integer: statement.integer(column.index))
        case .unsigned where type != StorageClass.blob, .real where type == StorageClass.integer:
            buffer.append(integer: statement.integer(column.index))
        case .real where type != StorageClass.blob:
            buffer.append(real: statement.real(column.index))
        case .text:
            let text = try statement.row().textBytes(column.index)
            buffer.append(text: text, key: key, mayPack: column.isPlainText)
        case .unsigned, .real, .blob:
            buffer.append(blob: statement.bytes(column.index))
        }
    }
}

extension RowPacker.Form {
    /// Returns whether values of a storage class need no conversion, and can't have wrong bytes.
    fileprivate func isNatural(_ type: Int32) -> Bool {
        switch self {
        case .text: type == StorageClass.text
        case .integer, .unsigned: type == StorageClass.integer
        case .real: type == StorageClass.real || type == StorageClass.integer
        case .blob: type == StorageClass.blob
        }
    }
}

extension PropertyKind {
    /// Whether values are read as texts, and never as bytes.
    fileprivate var isPlainText: Bool {
        switch self {
        case .string, .url, .reference: true
        default: false
        }
    }
}
