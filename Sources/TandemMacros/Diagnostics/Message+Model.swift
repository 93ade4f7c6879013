/// What can be wrong with the struct as a whole, its names and its indexes.
extension Message {
    static func notAStruct(_ keyword: String) -> Message {
        Message(
            "notAStruct",
            "@Model makes models of structs, not of '\(keyword)': their values are copies, safe on every thread")
    }

    static let generic = Message("generic", "a model can't be generic: it has one table, and one set of columns")

    static let insideGeneric = Message(
        "insideGeneric", "a model can't stand inside a generic type: it has one table, and one set of columns")

    static let privateInside = Message(
        "privateInside",
        "a model inside a type or an extension can't be 'private': its conformance would not see it; "
            + "make it 'fileprivate'")

    static let conditionalProperties = Message(
        "conditionalProperties",
        "a model's stored properties can't stand under #if: the table would differ from build to build")

    static func reservedType(_ name: String) -> Message {
        Message("reservedType", "'\(name)' is the name of a type that @Model writes")
    }

    static func reservedWord(_ name: String, _ word: String) -> Message {
        let reason = name == word ? "" : "; the names of columns are compared without case"
        return Message("reservedName", "'\(name)' is reserved: each object has '\(word)' of its own\(reason)")
    }

    static func reservedPrefix(_ name: String) -> Message {
        Message("reservedName", "'\(name)' is reserved: names that begin with '__' are Tandem's")
    }

    static func reservedTable(_ name: String, _ prefix: String) -> Message {
        Message(
            "reservedTable",
            "'\(name)' can't be a table's name: those that begin with '\(prefix)' are "
                + (prefix == "__" ? "Tandem's" : "SQLite's"))
    }

    static func sameColumn(_ name: String, _ other: String) -> Message {
        Message(
            "sameColumn",
            name == other
                ? "two properties have the column '\(name)'"
                : "'\(other)' and '\(name)' are one column: the names of columns are compared without case")
    }

    static func sameWireName(_ name: String) -> Message {
        Message("sameWireName", "two properties are called '\(name)' on the wire")
    }

    static let notALiteral = Message("notALiteral", "write the name as a plain string: a macro sees only the text")

    static let emptyName = Message("emptyName", "a name can't be empty")

    static let unknownOption = Message(
        "unknownOption", "write the option itself, '.localOnly': a macro sees only the text")

    static let unknownIndex = Message(
        "unknownIndex",
        "write the indexes themselves, as in '[.index(\"a\", \"b\"), .unique(\"c\", \"d\")]': "
            + "a macro sees only the text")

    static let emptyIndex = Message("emptyIndex", "an index needs the name of at least one property")

    static func unknownProperty(_ name: String, model: String, near: String?) -> Message {
        let proposal = near.map { "; did you mean '\($0)'?" } ?? ""
        return Message("unknownProperty", "'\(model)' has no stored property '\(name)'\(proposal)")
    }

    static func repeatedInIndex(_ name: String) -> Message {
        Message("repeatedInIndex", "'\(name)' is in this index already")
    }
}
