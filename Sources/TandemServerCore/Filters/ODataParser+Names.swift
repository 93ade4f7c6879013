/// The parsing of constructs that begin with a name: paths, lists after `in`, calls.
extension ODataParser {
    // MARK: Names

    mutating func readPath(_ first: String) throws(FilterProblem) -> Typed {
        let start = tokens[position - 1].at
        var names = [first]
        while skip("/") {
            guard case .word(let name) = token else { throw unexpected() }
            position += 1
            if grammar == .odata4, name == "any" || name == "all", skip("(") {
                return try readQuantified(names, isAll: name == "all", at: start)
            }
            names.append(name)
            guard names.count <= limits.depth else { throw tooDeep() }
        }
        if let variable, first == variable { return (.path(names), .unknown) }
        guard let kind = columns(first) else {
            throw FilterProblem("Could not find a property named '\(first)'", at: start, kind: .unknownProperty)
        }
        return (.path(names), names.count == 1 ? kind : .unknown)
    }

    private mutating func readQuantified(
        _ path: [String], isAll: Bool, at start: Int
    ) throws(FilterProblem) -> Typed {
        guard variable == nil else { throw FilterProblem("'any' and 'all' can't be nested", at: start, kind: .limit) }
        guard columns(path[0]) != nil else {
            throw FilterProblem("Could not find a property named '\(path[0])'", at: start, kind: .unknownProperty)
        }
        if !isAll, skip(")") { return (.quantified(path: path, isAll: false, variable: "", condition: nil), .bool) }
        guard case .word(let name) = token else { throw unexpected() }
        position += 1
        try expect(":")
        variable = name
        defer { variable = nil }
        let (condition, kind) = try readExpression()
        guard kind == .bool || kind == .unknown else {
            throw FilterProblem("'any' and 'all' need a condition", at: start)
        }
        try expect(")")
        return (.quantified(path: path, isAll: isAll, variable: name, condition: condition), .bool)
    }

    mutating func readList(comparableWith kind: FilterKind) throws(FilterProblem) -> [FilterNode] {
        try expect("(")
        var elements: [FilterNode] = []
        repeat {
            guard case .literal(let value) = token else { throw unexpected() }
            guard kind.isComparable(with: value.kind) else {
                throw FilterProblem("'in' needs values of the same type", at: here)
            }
            try check(.literal(value), against: kind, at: here)
            position += 1
            elements.append(.literal(value))
        } while skip(",")
        try expect(")")
        return elements
    }

    // MARK: Calls

    mutating func readCall(_ name: String) throws(FilterProblem) -> Typed {
        let start = tokens[position - 2].at
        let folded = name.lowercased()
        if grammar == .odata4, folded == "cast" || folded == "isof" {
            return try readTypeCall(isCast: folded == "cast")
        }
        if grammar == .odata4, ["matchespattern", "geo.distance", "geo.length", "geo.intersects"].contains(folded) {
            throw FilterProblem("'\(name)' is not supported", at: start, kind: .untranslatable)
        }
        guard let function = FilterFunction(rawValue: folded), function.isKnown(in: grammar) else {
            throw FilterProblem("Unknown function '\(name)'", at: start)
        }
        let (kinds, required) = function.parameters
        var arguments: [FilterNode] = []
        if !skip(")") {
            repeat {
                let (node, kind) = try readExpression()
                guard arguments.count < kinds.count, accepts(kinds[arguments.count], kind: kind, in: function) else {
                    throw FilterProblem("Invalid arguments of '\(name)'", at: start)
                }
                arguments.append(node)
            } while skip(",")
            try expect(")")
        }
        guard arguments.count >= required else { throw FilterProblem("Invalid arguments of '\(name)'", at: start) }
        return (.call(function, arguments: arguments), function.result)
    }

    private func accepts(_ parameter: FilterKind, kind: FilterKind, in function: FilterFunction) -> Bool {
        if kind == .unknown || kind == parameter { return true }
        return switch (function, kind) {
        case (.year, .day), (.month, .day), (.day, .day): true
        case (.hour, .time), (.minute, .time), (.second, .time), (.fractionalseconds, .time): true
        default: false
        }
    }

    private mutating func readTypeCall(isCast: Bool) throws(FilterProblem) -> Typed {
        let start = here
        let node = try readExpression().node
        try expect(",")
        let name: String
        switch token {
        case .word(let word): name = word
        case .literal(.text(let text)): name = text
        default: throw unexpected()
        }
        guard let type = FilterType(name: name) else { throw FilterProblem("Unknown type '\(name)'", at: start) }
        position += 1
        try expect(")")
        return isCast ? (.cast(node, to: type), type.kind) : (.isOf(node, type: type), .bool)
    }
}
