import BigInt
import Foundation

/// Where a column's values come from in a migration.
struct ColumnPlan {
    let property: PropertyDefinition
    /// The old column, `nil` for a new property.
    let oldColumn: String?
    /// Makes the new stored value of the old one.
    let convert: (StorageValue) throws -> StorageValue
    /// Whether values stay as they are.
    let keepsValues: Bool
    /// Whether stored values stay as they are, in a column of the same type: an old column does as it is.
    let keepsForm: Bool
    private let model: String
    private let path: String

    /// - Throws: ``TandemError/Code/schemaMismatch`` if there is no rule for the change of type, naming both.
    init(
        _ property: PropertyDefinition, _ table: TableLayout, _ old: SchemaRecord.Model, _ migration: Migration,
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
                .schemaMismatch, "It was a \(oldProperty.kind), and is to be a \(property.kind).",
                advice: "Convert its values in a migration step: convert(_:of:_:).", store: path,
                model: table.definition.name, property: property.name)
        }
    }

    /// The default of a new property.
    func appendDefault(to row: RowBuffer) throws {
        guard let appendDefault = property.appendDefault else {
            throw TandemError(
                .schemaMismatch, "It is new and has no default for the objects in the store.",
                advice: "Give it a default, make it optional, or name what it was with @Renamed(from:).", store: path,
                model: model, property: property.name)
        }
        appendDefault(row)
    }

    /// An old value in its new form.
    func append(_ value: StorageValue, to row: RowBuffer) throws {
        let converted = try converted(value)
        guard converted == .null, !property.isOptional else {
            row.append(converted)
            return
        }
        guard let appendDefault = property.appendDefault else {
            throw TandemError(
                .schemaMismatch, "It was optional, and objects in the store have no value for it.",
                advice: "Give it a default, or leave it optional.", store: path, model: model, property: property.name)
        }
        appendDefault(row)
    }

    /// An old value that an operation keeps, in its new form.
    func converted(_ value: StorageValue) throws -> StorageValue {
        value == .null ? .null : try convert(value)
    }

    /// Whether a value of the one type is stored as the same value of the other one.
    private static func keepsForm(from old: PropertyKind, to new: PropertyKind) -> Bool {
        switch (old, new) {
        case (.integer(let oldBits, let oldSigned), .integer(let newBits, let newSigned)):
            old == new || newBits > oldBits && (oldSigned == newSigned || !oldSigned)
        // Of JSON each value is read afterwards.
        case (.integer(_, signed: false), .unsigned64), (.bigUInt, .bigInt), (.json, .json): true
        default: old == new
        }
    }

    /// What becomes of a value when its property's type changes, `nil` if there is no rule that loses nothing.
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
