import BigInt
import Foundation

/// The source of a column's values in a migration.
struct ColumnPlan {
    let property: PropertyDefinition
    /// The old column, or `nil` for a new property.
    let oldColumn: String?
    /// Converts an old stored value to the new one.
    let convert: (StorageValue) throws -> StorageValue
    /// Whether values do not change.
    let keepsValues: Bool
    /// Whether stored values do not change, so that the old column can be used as it is.
    let keepsForm: Bool
    private let model: String
    private let path: String

    /// - Throws: ``TandemError/Code/schemaMismatch`` with both types if there is no rule for the change of type.
    init(
        _ property: PropertyDefinition, table: TableLayout, old: SchemaRecord.Model, migration: Migration,
        path: String
    ) throws {
        self.property = property
        self.path = path
        model = table.definition.name
        guard let oldProperty = old.property(named: property.name) else {
            oldColumn = nil
            convert = { $0 }
            keepsValues = true
            keepsForm = true
            return
        }
        oldColumn = oldProperty.column
        if let conversion = migration.conversion(of: oldProperty, in: old) {
            convert = conversion
            keepsValues = false
            keepsForm = false
        } else if let conversion = Self.conversion(from: oldProperty.kind, to: property.kind) {
            convert = conversion
            keepsValues = oldProperty.kind == property.kind
            keepsForm = Self.keepsForm(from: oldProperty.kind, to: property.kind)
        } else {
            throw TandemError(
                .schemaMismatch,
                message: "The type of the property changed from \(oldProperty.kind) to \(property.kind).",
                advice: "Convert its values in a migration step: convert(_:of:_:).", store: path,
                model: table.definition.name, property: property.name)
        }
    }

    /// Appends the default of a new property.
    func appendDefault(to row: RowEncoder) throws {
        guard let appendDefault = property.appendDefault else {
            throw TandemError(
                .schemaMismatch, message: "The property is new, and has no default for the objects in the store.",
                advice: "Give it a default, make it optional, or state its former name with @Renamed(from:).",
                store: path,
                model: model, property: property.name)
        }
        appendDefault(row)
    }

    /// Appends an old value in its new form.
    func append(_ value: StorageValue, to row: RowEncoder) throws {
        let converted = try converted(value)
        guard converted == .null, !property.isOptional else {
            row.append(converted)
            return
        }
        guard let appendDefault = property.appendDefault else {
            throw TandemError(
                .schemaMismatch,
                message: "The property was optional, and some objects in the store have no value for it.",
                advice: "Give it a default, or keep it optional.", store: path, model: model, property: property.name)
        }
        appendDefault(row)
    }

    /// Returns an old value of an operation in its new form.
    func converted(_ value: StorageValue) throws -> StorageValue {
        value == .null ? .null : try convert(value)
    }

    /// Returns whether both types store a value in the same form.
    private static func keepsForm(from old: PropertyKind, to new: PropertyKind) -> Bool {
        switch (old, new) {
        case (.integer(let oldBits, let oldSigned), .integer(let newBits, let newSigned)):
            old == new || newBits > oldBits && (oldSigned == newSigned || !oldSigned)
        // JSON values are checked by reading them afterwards.
        case (.integer(_, signed: false), .unsigned64), (.bigUInt, .bigInt), (.json, .json): true
        default: old == new
        }
    }

    /// Returns the conversion of stored values between two types, or `nil` if there is no lossless rule.
    private static func conversion(
        from old: PropertyKind, to new: PropertyKind
    ) -> ((StorageValue) throws -> StorageValue)? {
        if keepsForm(from: old, to: new) { return { $0 } }
        switch (old, new) {
        case (.integer, .bigInt), (.integer(_, signed: false), .bigUInt):
            return { value in
                guard case .integer(let number) = value else { return value }
                return Migration.stored(BigInt(number))
            }
        case (.unsigned64, .bigInt), (.unsigned64, .bigUInt):
            return { value in
                switch value {
                case .integer(let number): Migration.stored(BigInt(number))
                case .blob(let bytes) where bytes.count == 8:
                    Migration.stored(BigInt(bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }))
                default: value
                }
            }
        case (.float, .double):
            return { value in
                guard case .blob(let bits) = value else { return value }
                return Migration.stored(Double(try bits.withUnsafeBytes { try NaNStorage.decodeFloat($0) }))
            }
        default: return nil
        }
    }
}
