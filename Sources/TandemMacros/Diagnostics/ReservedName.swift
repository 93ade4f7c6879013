import SwiftSyntax

/// The reserved names of properties, columns and tables.
enum ReservedName {
    /// The built-in names of each object. Tandem reserves columns with these names, in any case.
    private static let words = [
        "id", "localID", "serverID", "version", "deleted", "createdAt", "updatedAt", "synced", "isSynced",
        "isDeleted", "reference", "self",
    ]

    /// Returns the error for a property or a column with a reserved name, or `nil` for a valid name.
    static func problem(_ name: String) -> Message? {
        if name.hasPrefix("__") { return .reservedPrefix(name) }
        let folded = name.lowercased()
        return words.first { $0.lowercased() == folded }.map { .reservedWord(name, word: $0) }
    }

    /// Returns the error for a table with a reserved name, or `nil` for a valid name.
    static func tableProblem(_ name: String) -> Message? {
        ["__", "sqlite_"].first { name.lowercased().hasPrefix($0) }.map { .reservedTable(name, prefix: $0) }
    }

    /// Returns a valid alternative: `cardID` for `id`, `cardVersion` for `version`, `secret` for `__secret`.
    static func replacement(for name: String, in model: String) -> String {
        let bare = String(name.drop { $0 == "_" })
        if bare.count < name.count, let first = bare.first, !first.isNumber, problem(bare) == nil { return bare }
        let prefix = model.prefix(1).lowercased() + model.dropFirst()
        if bare.lowercased() == "id" { return prefix + "ID" }
        return prefix + bare.prefix(1).uppercased() + bare.dropFirst()
    }
}
