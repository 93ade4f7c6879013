import SwiftSyntax

/// The names that a model's properties and columns can't have.
enum ReservedName {
    /// What every object has. Columns of these names, in any case, are Tandem's own.
    private static let words = [
        "id", "localID", "serverID", "version", "deleted", "createdAt", "updatedAt", "synced", "isSynced",
        "isDeleted", "reference", "self",
    ]

    /// Why a property or a column can't be called so; `nil` if it can.
    static func problem(_ name: String) -> Message? {
        if name.hasPrefix("__") { return .reservedPrefix(name) }
        let folded = name.lowercased()
        return words.first { $0.lowercased() == folded }.map { .reservedWord(name, $0) }
    }

    /// Why a table can't be called so; `nil` if it can.
    static func tableProblem(_ name: String) -> Message? {
        ["__", "sqlite_"].first { name.lowercased().hasPrefix($0) }.map { .reservedTable(name, $0) }
    }

    /// A name to use instead: `cardID` for `id`, `cardVersion` for `version`, `secret` for `__secret`.
    static func replacement(for name: String, in model: String) -> String {
        let bare = String(name.drop { $0 == "_" })
        if bare.count < name.count, let first = bare.first, !first.isNumber, problem(bare) == nil { return bare }
        let prefix = model.prefix(1).lowercased() + model.dropFirst()
        if bare.lowercased() == "id" { return prefix + "ID" }
        return prefix + bare.prefix(1).uppercased() + bare.dropFirst()
    }
}
