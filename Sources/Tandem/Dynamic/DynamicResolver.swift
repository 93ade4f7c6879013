import Foundation

/// Resolves names in a model, and conditions by names to the predicates of typed queries.
struct DynamicResolver {
    let model: ModelDefinition
    let schema: Schema
    /// The store's path, for errors.
    let path: String

    /// The names of the state's columns in queries.
    static let stateNames = [
        "localID", "serverID", "isSynced", "isDeleted", "version", "createdAt", "updatedAt",
    ]

    /// The end of a path.
    enum Target {
        case property(ColumnPath, definition: PropertyDefinition)
        /// A column of the state.
        case state(ColumnPath, kind: PropertyKind)
        /// A list of references, or inverse links.
        case links(LinkPath)
    }

    // MARK: Paths

    /// Returns the end of a path.
    ///
    /// - Throws: ``TandemError/Code/invalidQuery`` with the names that exist.
    func target(_ path: DynamicPath) throws -> Target {
        guard path.names.count <= Self.maximumLength else {
            throw invalid(
                "A path has \(path.names.count) names.", advice: "Use at most \(Self.maximumLength) names.",
                model: model)
        }
        return try target(path.names[...], in: model, through: nil, of: path)
    }

    /// The maximum number of names in a path. SQLite joins at most 64 tables.
    private static let maximumLength = 64

    private func target(
        _ names: ArraySlice<String>, in model: ModelDefinition, through reference: ColumnPath?, of path: DynamicPath
    ) throws -> Target {
        func reached(_ column: ColumnPath) -> ColumnPath { reference.map { column.reached(through: $0) } ?? column }
        guard let name = names.first else { throw unknown("", in: model, of: path) }
        let rest = names.dropFirst()
        if name == DynamicPath.links {
            return .links(try inverse(Array(rest), to: model, through: reference, of: path))
        }
        guard let index = model.index(ofProperty: name) else {
            guard rest.isEmpty, let state = Self.state(name, of: model) else {
                throw unknown(name, in: model, of: path)
            }
            return .state(reached(state.path), kind: state.kind)
        }
        let property = model.properties[index]
        let column = reached(ColumnPath(model, property: index))
        if property.isToMany, let target = property.target?.definition {
            guard rest.isEmpty else {
                throw invalid(
                    "\(path) leads through \(name), which is a list of references.",
                    advice: "Test its objects: any \(name) (\(rest.joined(separator: ".")) == …).",
                    model: model, property: name)
            }
            return .links(
                LinkPath(steps: column.steps, kind: .list(holder: model, property: index, target: target)))
        }
        if rest.isEmpty { return .property(column, definition: property) }
        guard property.isToOne, let target = property.target?.definition else {
            throw invalid(
                "\(path) leads through \(name), which is a \(property.kind) and not a reference.",
                advice: "Use a reference, or end the path there.", model: model, property: name)
        }
        return try self.target(rest, in: target, through: column, of: path)
    }

    /// Returns the inverse links that a path ends with.
    private func inverse(
        _ names: [String], to model: ModelDefinition, through reference: ColumnPath?, of path: DynamicPath
    ) throws -> LinkPath {
        let links = InverseReference.all(to: model, in: schema)
        guard names.count == 2,
            let link = links.first(where: { $0.source.name == names[0] && $0.property.name == names[1] })
        else {
            let known = links.map { "\(DynamicPath.links).\($0)" }
            throw invalid(
                "\(path) does not name inverse links of \(model.name).",
                advice: known.isEmpty
                    ? "No property refers to this model." : "They are: \(known.joined(separator: ", ")).", model: model)
        }
        return LinkPath(
            steps: reference?.steps(to: model.table) ?? [],
            kind: .inverse(source: link.source, property: link.propertyIndex))
    }

    private static func state(_ name: String, of model: ModelDefinition) -> (path: ColumnPath, kind: PropertyKind)? {
        func column(_ name: String, isOptional: Bool, kind: PropertyKind) -> (path: ColumnPath, kind: PropertyKind) {
            let column = ColumnPath.Column.state(name, isOptional: isOptional, isFloating: kind == .date)
            return (ColumnPath(model, column: column), kind)
        }
        return switch name {
        case "localID", "id": column("localID", isOptional: false, kind: .string)
        case "serverID": column("serverID", isOptional: true, kind: .string)
        case "isSynced": column("synced", isOptional: false, kind: .bool)
        case "isDeleted": column("deleted", isOptional: false, kind: .bool)
        case "version": column("version", isOptional: true, kind: .string)
        case "createdAt": column("createdAt", isOptional: true, kind: .date)
        case "updatedAt": column("updatedAt", isOptional: true, kind: .date)
        default: nil
        }
    }

    // MARK: Conditions

    /// Returns the predicate of a condition.
    ///
    /// - Throws: ``TandemError/Code/invalidQuery``.
    func node(_ predicate: DynamicPredicate) throws -> PredicateNode {
        switch predicate {
        case .constant(let value): return .constant(value)
        case .not(let operand): return .not(try node(operand))
        case .all(let operands): return .all(try operands.map(node))
        case .any(let operands): return .any(try operands.map(node))
        case .isTrue(let path): return .isTrue(try column(path, is: "a Bool") { $0 == .bool }.path)
        case .compare(let path, let comparison, let value): return try compare(path, by: comparison, to: value)
        case .compareProperties(let lhs, let comparison, let rhs):
            return try compare(lhs, by: comparison, toProperty: rhs)
        case .compareFolded(let path, let comparison, let text):
            guard comparison.isEquality else {
                throw invalid(
                    "\(path) is compared by \(comparison.rawValue) without regard to case.",
                    advice: "Only == and != can ignore case.", model: model)
            }
            return .comparison(try folded(path), by: comparison.comparison, to: .value(.text(text)))
        case .in(let path, let values):
            let column = try column(path)
            if values.contains(where: { !$0.isNull }) { try check(.equal, of: column, at: path) }
            return .among(column.path, values: try values.map { try operand($0, of: column, at: path) })
        case .text(let path, let test, let text, let mode):
            return try self.text(path, test: test, operand: text, case: mode)
        case .matches(let path, let text): return .matches(try searched(path), needle: SearchNeedle(text))
        case .linked(let path, let quantifier, let inner):
            let link = try links(path)
            let resolver = DynamicResolver(model: link.model, schema: schema, path: self.path)
            return .quantified(link, quantifier: quantifier.quantifier, where: try resolver.node(inner))
        case .count(let path, let comparison, let count): return try self.count(path, by: comparison, to: count)
        case .contains(let path, let value): return try contains(value, in: path)
        }
    }

    private func compare(
        _ path: DynamicPath, by comparison: DynamicComparison, to value: DynamicValue
    ) throws -> PredicateNode {
        let column = try column(path)
        if value.isNull {
            guard comparison.isEquality else {
                throw invalid(
                    "\(path) is compared with nil by \(comparison.rawValue).",
                    advice: "Only == and != compare with nil.",
                    model: model)
            }
            return .comparison(column.path, by: comparison.comparison, to: .value(.null))
        }
        try check(comparison, of: column, at: path)
        return .comparison(column.path, by: comparison.comparison, to: .value(try operand(value, of: column, at: path)))
    }

    private func compare(
        _ lhs: DynamicPath, by comparison: DynamicComparison, toProperty rhs: DynamicPath
    ) throws -> PredicateNode {
        let (left, right) = (try column(lhs), try column(rhs))
        guard left.kind == right.kind else {
            throw invalid(
                "\(lhs) is a \(left.kind), and \(rhs) is a \(right.kind).",
                advice: "Only properties of the same kind can be compared.", model: model)
        }
        try check(comparison, of: left, at: lhs)
        return .comparison(left.path, by: comparison.comparison, to: .column(right.path))
    }

    private func text(
        _ path: DynamicPath, test: DynamicTextTest, operand text: String, case mode: DynamicCase
    ) throws -> PredicateNode {
        if test == .contains, mode == .automatic, try isList(path) { return try contains(.string(text), in: path) }
        let column = try column(path, is: "a text") { $0 == .string }
        let folding = column.property?.folding ?? .none
        switch (test, mode) {
        case (.beginsWith, .ignored): return .text(try folded(path), test: .prefix, operand: text)
        case (.beginsWith, .automatic) where folding != .none:
            return .text(column.path.folded, test: .prefix, operand: text)
        case (.contains, .ignored): return .matches(try searched(path), needle: SearchNeedle(text))
        case (.contains, .automatic) where folding == .searched:
            return .matches(column.path, needle: SearchNeedle(text))
        case (_, .ignored):
            throw invalid(
                "\(test.rawValue) can't ignore case.", advice: "Use beginsWith, contains or matches.",
                model: model, property: "\(path)")
        case (.beginsWith, _): return .text(column.path, test: .prefix, operand: text)
        case (.endsWith, _): return .text(column.path, test: .suffix, operand: text)
        case (.contains, _): return .text(column.path, test: .contains, operand: text)
        case (.like, _): return .text(column.path, test: .like, operand: text)
        }
    }

    private func count(_ path: DynamicPath, by comparison: DynamicComparison, to count: Int) throws -> PredicateNode {
        if case .links(let link) = try target(path) { return .linkCount(link, by: comparison.comparison, to: count) }
        let column = try column(path, is: "a list") { $0.isCountable }
        return .elementCount(column.path, by: comparison.comparison, to: count)
    }

    /// Returns whether a path names linked objects, or a collection of plain values.
    private func isList(_ path: DynamicPath) throws -> Bool {
        switch try target(path) {
        case .links: true
        case .property(_, let property): property.kind.isCountable
        case .state: false
        }
    }

    private func contains(_ value: DynamicValue, in path: DynamicPath) throws -> PredicateNode {
        if case .links(let link) = try target(path) {
            switch value {
            case .string(let id): return .linkContains(link, id: LocalID(id))
            case .reference(let id): return .linkContains(link, id: id)
            default:
                throw invalid(
                    "\(path) names objects, and \(value) is \(value.kindName).", advice: "Give a local ID.",
                    model: model)
            }
        }
        let column = try column(path, is: "a list") { $0.isCountable }
        var json: [UInt8] = []
        guard case .collection(let name) = column.kind,
            let type = RecordedType.elements(of: name), let given = value.node,
            let node = type.init(__json: given)?.__json, (try? ExactJSON.write(node, to: &json)) != nil
        else {
            throw invalid(
                "\(value) is \(value.kindName), which is not an element of \(path), a \(column.kind).",
                advice: "Give a value of its elements' type.", model: model, property: "\(path)")
        }
        return .elementsContain(column.path, element: String(decoding: json, as: UTF8.self))
    }

    // MARK: Columns

    /// A column in a query.
    private struct Column {
        let path: ColumnPath
        let kind: PropertyKind
        /// The property, or `nil` for a column of the state.
        let property: PropertyDefinition?
    }

    private func column(_ path: DynamicPath) throws -> Column {
        switch try target(path) {
        case .property(let column, let property): return Column(path: column, kind: property.kind, property: property)
        case .state(let column, let kind): return Column(path: column, kind: kind, property: nil)
        case .links:
            throw invalid(
                "\(path) names several objects.",
                advice: "Test them with any, all or none, or their number with @count.",
                model: model, property: "\(path)")
        }
    }

    private func column(
        _ path: DynamicPath, is wanted: String, where condition: (PropertyKind) -> Bool
    ) throws -> Column {
        let column = try column(path)
        guard condition(column.kind) else {
            throw invalid(
                "\(path) is a \(column.kind), and not \(wanted).", advice: "Use a condition of its kind.",
                model: model, property: "\(path)")
        }
        return column
    }

    /// Returns the sort key of a folded text.
    private func folded(_ path: DynamicPath) throws -> ColumnPath {
        let column = try column(path)
        guard let property = column.property, property.folding != .none else {
            throw invalid(
                "\(path) can't be compared without regard to case, because it is not @Folded.",
                advice: "Compare it exactly.", model: model, property: "\(path)")
        }
        return column.path.folded
    }

    /// Returns the column of a searched text.
    private func searched(_ path: DynamicPath) throws -> ColumnPath {
        let column = try column(path)
        guard column.property?.folding == .searched else {
            throw invalid(
                "\(path) can't be searched, because it is not @Folded.", advice: "Compare it exactly.",
                model: model, property: "\(path)")
        }
        return column.path
    }

    private func check(_ comparison: DynamicComparison, of column: Column, at path: DynamicPath) throws {
        guard comparison.isEquality ? column.kind.isComparable : column.kind.isOrdered else {
            throw invalid(
                "\(path) is a \(column.kind), which can't be compared by \(comparison.rawValue).",
                advice: column.kind.isComparable ? "Use == or !=." : "Compare it with nil only.",
                model: model, property: "\(path)")
        }
    }

    /// Returns the stored form of a value that a column is compared with.
    private func operand(_ value: DynamicValue, of column: Column, at path: DynamicPath) throws -> StorageValue {
        if value.isNull { return .null }
        let stored: StorageValue? =
            if let property = column.property {
                property.storageValue(of: value)
            } else {
                Self.stateValue(value, of: column.kind)
            }
        guard let stored, stored != .null else {
            throw invalid(
                "\(path) is a \(column.kind), and \(value) is \(value.kindName).", advice: "Give a value of its kind.",
                model: model, property: "\(path)")
        }
        return stored
    }

    private static func stateValue(_ value: DynamicValue, of kind: PropertyKind) -> StorageValue? {
        switch (kind, value) {
        case (.string, .string(let text)): .text(text)
        case (.string, .reference(let id)): .text(id.rawValue)
        case (.bool, .bool(let flag)): .integer(flag ? 1 : 0)
        case (.date, .date), (.date, .string):
            value.node.flatMap { Date(__json: $0) }.map { Codec.of(Date.self).storageValue($0) }
        default: nil
        }
    }

    private func links(_ path: DynamicPath) throws -> LinkPath {
        guard case .links(let link) = try target(path) else {
            throw invalid(
                "\(path) is not a list of references.", advice: "Name a list of references, or inverse links.",
                model: model, property: "\(path)")
        }
        return link
    }

    // MARK: Orders

    /// Returns the key of an order. Every column has an order in the store, even if its values have none in Swift.
    func sortTerm(_ sort: DynamicSort) throws -> SortTerm {
        let column = try column(sort.path)
        return .column(column.path, ascending: sort.ascending, nilsFirst: sort.nilsFirst)
    }

    // MARK: Errors

    private func unknown(_ name: String, in model: ModelDefinition, of path: DynamicPath) -> TandemError {
        let names = model.properties.map(\.name) + Self.stateNames
        let place = path.names.count > 1 ? " in \(path)" : ""
        return TandemError(
            .invalidQuery, message: "\(model.name) has no property \"\(name)\"\(place).",
            advice: "Its properties are: \(names.joined(separator: ", ")).", store: self.path, model: model.name)
    }

    private func invalid(
        _ message: String, advice: String, model: ModelDefinition, property: String? = nil
    ) -> TandemError {
        TandemError(
            .invalidQuery, message: message, advice: advice, store: path, model: model.name, property: property)
    }
}

extension PropertyKind {
    /// Whether values can be compared for equality by their stored form.
    fileprivate var isComparable: Bool {
        switch self {
        case .json, .attachment: false
        default: true
        }
    }

    /// Whether the order in the store is that of the values.
    fileprivate var isOrdered: Bool {
        switch self {
        case .integer, .unsigned64, .double, .float, .string, .date, .uuid, .decimal, .bigInt, .bigUInt: true
        default: false
        }
    }

    /// Whether values are collections of plain values.
    fileprivate var isCountable: Bool {
        guard case .collection(let name) = self else { return false }
        return RecordedType.elements(of: name) != nil
    }
}
