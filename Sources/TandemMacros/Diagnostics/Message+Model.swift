/// Messages about the struct, its names and its indexes.
extension Message {
    static func notAStruct(_ keyword: String) -> Message {
        Message(
            "notAStruct",
            message: "@Model needs a struct, not '\(keyword)': the values of structs are copies, safe on each thread")
    }

    static let generic = Message(
        "generic", message: "a model can't be generic: it has one table and one set of columns")

    static let insideGeneric = Message(
        "insideGeneric", message: "a model can't be inside a generic type: it has one table and one set of columns")

    static let privateInside = Message(
        "privateInside",
        message: "a model inside a type or an extension can't be 'private': its conformance would not see it; "
            + "make it 'fileprivate'")

    static let conditionalProperties = Message(
        "conditionalProperties",
        message: "a model's stored properties can't be inside #if: the table would differ between builds")

    static func reservedType(_ name: String) -> Message {
        Message("reservedType", message: "'\(name)' is the name of a type that @Model generates")
    }

    static func reservedWord(_ name: String, word: String) -> Message {
        let reason = name == word ? "" : "; column names are case-insensitive"
        return Message("reservedName", message: "'\(name)' is reserved: each object has a built-in '\(word)'\(reason)")
    }

    static func reservedPrefix(_ name: String) -> Message {
        Message("reservedName", message: "'\(name)' is reserved: Tandem uses names that begin with '__'")
    }

    static func reservedTable(_ name: String, prefix: String) -> Message {
        Message(
            "reservedTable",
            message: "'\(name)' can't be a table's name: those that begin with '\(prefix)' are "
                + (prefix == "__" ? "Tandem's" : "SQLite's"))
    }

    static func sameColumn(_ name: String, other: String) -> Message {
        Message(
            "sameColumn",
            message: name == other
                ? "two properties have the column '\(name)'"
                : "'\(other)' and '\(name)' are the same column: column names are case-insensitive")
    }

    static func sameWireName(_ name: String) -> Message {
        Message("sameWireName", message: "two properties have the wire name '\(name)'")
    }

    static let notALiteral = Message(
        "notALiteral", message: "write the name as a string literal: a macro sees only the text")

    static let emptyName = Message("emptyName", message: "a name can't be empty")

    static let unknownOption = Message(
        "unknownOption", message: "write the option '.localOnly' literally: a macro sees only the text")

    static let unknownIndex = Message(
        "unknownIndex",
        message: "write the indexes literally, as in '[.index(\"a\", \"b\"), .unique(\"c\", \"d\")]': "
            + "a macro sees only the text")

    static let emptyIndex = Message("emptyIndex", message: "an index needs the name of at least one property")

    static func unknownProperty(_ name: String, model: String, near: String?) -> Message {
        let proposal = near.map { "; did you mean '\($0)'?" } ?? ""
        return Message("unknownProperty", message: "'\(model)' has no stored property '\(name)'\(proposal)")
    }

    static func repeatedInIndex(_ name: String) -> Message {
        Message("repeatedInIndex", message: "'\(name)' is in this index already")
    }
}
