/// An independent evaluator for the text of filters, in the two logics of servers.
///
/// In SQL, a comparison with null is unknown. In C#, null equals null, differs from all other values, and is not
/// ordered.
struct ReferenceFilterEvaluator {
    enum Logic: CaseIterable {
        case sql, csharp
    }

    enum Value: Equatable {
        case null
        case number(Double)
        case bool(Bool)
        case text(String)
    }

    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    let logic: Logic
    let row: [String: Value]
    private var rest: Substring

    /// Returns whether a row passes the filter. Unknown counts as false.
    static func passes(_ text: String, _ row: [String: Value], _ logic: Logic) throws -> Bool {
        var evaluator = ReferenceFilterEvaluator(logic: logic, row: row, rest: text[...])
        let result = try evaluator.condition()
        guard evaluator.rest.isEmpty else { throw Malformed(description: "left over: \(evaluator.rest)") }
        return result == true
    }

    private mutating func skip(_ text: String) -> Bool {
        guard rest.hasPrefix(text) else { return false }
        rest = rest.dropFirst(text.count)
        return true
    }

    private mutating func expect(_ text: String) throws {
        guard skip(text) else { throw Malformed(description: "no \(text) at: \(rest)") }
    }

    /// Parses a condition in parentheses, or a call.
    private mutating func condition() throws -> Bool? {
        for name in ["startswith", "endswith", "contains", "substringof"] where skip(name + "(") {
            let first = try value()
            try expect(",")
            let second = try value()
            try expect(")")
            guard case (.text(let first), .text(let second)) = (first, second) else {
                return logic == .sql ? nil : false
            }
            return switch name {
            case "startswith": first.hasPrefix(second)
            case "endswith": first.hasSuffix(second)
            case "contains": first.contains(second)
            default: second.contains(first)
            }
        }
        try expect("(")
        let result: Bool?
        if skip("not ") {
            result = try condition().map { !$0 }
        } else if rest.hasPrefix("(")
            || ["startswith(", "endswith(", "contains(", "substringof("].contains(where: rest.hasPrefix)
        {
            let left = try condition()
            if skip(" and ") {
                let right = try condition()
                result = left == false || right == false ? false : left == nil || right == nil ? nil : true
            } else {
                try expect(" or ")
                let right = try condition()
                result = left == true || right == true ? true : left == nil || right == nil ? nil : false
            }
        } else {
            result = try comparison()
        }
        try expect(")")
        return result
    }

    private mutating func comparison() throws -> Bool? {
        let left = try value()
        if skip(" in (") {
            var found: Bool? = false
            repeat {
                let one = equal(left, try value(), isNullTest: false)
                if one == true || found == true { found = true } else if one == nil { found = nil }
            } while skip(",")
            try expect(")")
            return found
        }
        for word in ["eq", "ne", "lt", "le", "gt", "ge"] where skip(" \(word) ") {
            let isNullTest = rest.hasPrefix("null")
            let right = try value()
            switch word {
            case "eq": return equal(left, right, isNullTest: isNullTest)
            case "ne": return equal(left, right, isNullTest: isNullTest).map { !$0 }
            default: return order(left, right, word)
            }
        }
        throw Malformed(description: "no comparison at: \(rest)")
    }

    /// A comparison with the literal null is `IS NULL` in SQL.
    private func equal(_ left: Value, _ right: Value, isNullTest: Bool) -> Bool? {
        if logic == .sql, !isNullTest, left == .null || right == .null { return nil }
        return left == right
    }

    private func order(_ left: Value, _ right: Value, _ word: String) -> Bool? {
        let isLess: Bool
        switch (left, right) {
        case (.number(let a), .number(let b)): isLess = a < b
        case (.text(let a), .text(let b)): isLess = a < b
        default: return logic == .sql ? nil : false
        }
        let isEqual = left == right
        return switch word {
        case "lt": isLess
        case "le": isLess || isEqual
        case "gt": !isLess && !isEqual
        default: !isLess
        }
    }

    private mutating func value() throws -> Value {
        if skip("'") {
            var text = ""
            while let character = rest.popFirst() {
                if character == "'", !skip("'") { return .text(text) }
                text.append(character)
            }
            throw Malformed(description: "a text without an end")
        }
        let word = rest.prefix { $0.isLetter || $0.isNumber || "_.-".contains($0) }
        rest = rest.dropFirst(word.count)
        if let value = row[String(word)] { return value }
        switch word {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default:
            guard let number = Double(word) else { throw Malformed(description: "no value: \(word) before \(rest)") }
            return .number(number)
        }
    }
}
