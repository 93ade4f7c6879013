import Foundation
import Tandem

/// The translation of a predicate to a filter. It handles each case of ``PredicateNode``, or throws the reason why it
/// can't be sent to a server.
struct FilterTranslation {
    let format: WireFormat
    let serverID: (LocalID, String) throws -> ServerID?

    func filter(_ node: PredicateNode) throws -> RemoteFilter {
        switch node {
        case .constant(let value): return .constant(value)
        case .not(let node): return .negated(try filter(node))
        case .all(let nodes): return .every(try nodes.map(filter))
        case .any(let nodes): return .some(try nodes.map(filter))
        case .isTrue(let path): return .comparison(try member(path), by: .equal, to: .bool(true))
        case .comparison(let path, let comparison, .value(let value)):
            return try compare(path, by: RemoteFilter.Comparison(comparison), to: value)
        case .comparison(let path, let comparison, .column(let other)):
            return try compare(path, by: RemoteFilter.Comparison(comparison), to: other)
        case .among(let path, let values): return try among(path, values: values)
        case .identical(let path, let value): return try compare(path, by: .equal, to: value)
        case .ordered(let path, _, _):
            throw refusal(
                path, suffix: "", message: "A server does not continue a list after an object. Ask for all of it.")
        case .text(let path, let test, let text): return try passes(path, test: test, text: text)
        case .inKeyRanges(let path, _), .isFolded(let path, _), .hasFirstLetter(let path, _, _):
            throw foldedText(path)
        case .matches(let path, _):
            throw refusal(
                path, suffix: ".matches", message: "Servers have no folded search. Pull more, and search locally.")
        case .elementCount(let path, _, _):
            throw refusal(
                path, suffix: ".count",
                message: "Servers store a collection as one value, and can't count its elements.")
        case .elementsContain(let path, _):
            throw refusal(
                path, suffix: ".contains",
                message: "Servers store a collection as one value, and can't search its elements.")
        case .quantified(let link, _, _), .linkCount(let link, _, _), .linkContains(let link, _):
            throw UnsupportedFilterError(
                model: link.model.name, part: "links",
                message: "A request reads one table of the server, without linked objects.")
        }
    }

    private func foldedText(_ path: ColumnPath) -> UnsupportedFilterError {
        refusal(path, suffix: ".folded", message: "Servers have no folded texts. Pull more, and compare locally.")
    }

    private func refusal(_ path: ColumnPath, suffix: String, message: String) -> UnsupportedFilterError {
        let steps = path.steps.map { "\($0.column)." }.joined()
        return UnsupportedFilterError(
            model: path.model.name, part: "\(steps)\(path.propertyName)\(suffix)", message: message)
    }

    // MARK: Members

    private func member(_ path: ColumnPath) throws -> RemoteFilter.Member {
        guard path.steps.isEmpty else {
            throw refusal(
                path, suffix: "", message: "A request reads one table of the server, without referenced objects.")
        }
        switch path.column {
        case .property:
            guard let property = path.definition, !property.isLocalOnly else {
                throw refusal(path, suffix: "", message: "The property is kept on this device only.")
            }
            guard !property.holdsAttachments else {
                throw refusal(path, suffix: "", message: "A server compares no attachments.")
            }
            return RemoteFilter.Member(property.wireName, isOptional: property.isOptional)
        case .folded, .firstLetter:
            throw foldedText(path)
        case .state("serverID", _, _): return .id
        case .state("updatedAt", _, _): return .updatedAt
        case .state("createdAt", _, _): return .createdAt
        case .state("deleted", _, _): return .deleted
        case .state:
            throw refusal(path, suffix: "", message: "The server does not know it, or does not compare it.")
        }
    }

    /// Returns the kind of the column's values, for a literal.
    private func kind(_ path: ColumnPath) -> PropertyKind {
        switch path.column {
        case .property: path.definition?.kind ?? .string
        case .folded, .firstLetter: .string
        case .state(let name, _, let isFloating): isFloating ? .date : name == "deleted" ? .bool : .string
        }
    }

    // MARK: Comparisons

    private func compare(
        _ path: ColumnPath, by comparison: RemoteFilter.Comparison, to value: StorageValue
    ) throws -> RemoteFilter {
        let member = try member(path)
        if case .null = value {
            switch comparison {
            case .equal: return member.isOptional ? .isNull(member) : .constant(false)
            case .notEqual: return member.isOptional ? .not(.isNull(member)) : .constant(true)
            default: return .constant(false)
            }
        }
        let kind = kind(path)
        // A NaN does not equal any value, and is neither less nor greater.
        if kind.isNumberWithNaN, case .blob = value { return .constant(comparison == .notEqual) }
        if case .date = kind, case .real(let interval) = value {
            return try compare(
                path, member: member, by: comparison, to: Date(timeIntervalSinceReferenceDate: interval))
        }
        return .comparison(member, by: comparison, to: try literal(value, for: path, isOrdered: comparison.isOrder))
    }

    /// The server truncates times to the wire's precision: 3.4 ms becomes 3 ms there.
    private func compare(
        _ path: ColumnPath, member: RemoteFilter.Member, by comparison: RemoteFilter.Comparison, to date: Date
    ) throws -> RemoteFilter {
        guard let below = WireTimestamp(date, fractionDigits: format.fractionDigits) else {
            throw refusal(path, suffix: "", message: "The date is not in the years 1 to 9999.")
        }
        if below.date == date { return .comparison(member, by: comparison, to: .time(below)) }
        // The time lies between two of the server's times. It equals neither, and the lower one separates the lesser
        // from the greater times.
        switch comparison {
        case .equal: return .constant(false)
        case .notEqual: return .constant(true)
        case .less, .lessOrEqual: return .comparison(member, by: .lessOrEqual, to: .time(below))
        case .greater, .greaterOrEqual: return .comparison(member, by: .greater, to: .time(below))
        }
    }

    private func compare(
        _ path: ColumnPath, by comparison: RemoteFilter.Comparison, to other: ColumnPath
    ) throws -> RemoteFilter {
        for side in [path, other] {
            switch kind(side) {
            case .decimal, .bigInt, .bigUInt, .data, .collection, .json, .references:
                throw refusal(
                    side, suffix: "", message: "Its values are texts on the wire, which a server compares as such.")
            default: continue
            }
        }
        return .members(try member(path), by: comparison, to: try member(other))
    }

    private func among(_ path: ColumnPath, values: [StorageValue]) throws -> RemoteFilter {
        let member = try member(path)
        let kind = kind(path)
        if case .date = kind {
            return .some(try values.map { try compare(path, by: .equal, to: $0) })
        }
        var literals: [RemoteFilter.Value] = []
        var hasNull = false
        for value in values {
            if case .null = value {
                hasNull = true
            } else if kind.isNumberWithNaN, case .blob = value {
                continue
            } else {
                literals.append(try literal(value, for: path, isOrdered: false))
            }
        }
        let isOne: RemoteFilter = literals.isEmpty ? .constant(false) : .among(member, values: literals)
        return hasNull && member.isOptional ? .some([isOne, .isNull(member)]) : isOne
    }

    // MARK: Literals

    private func literal(
        _ value: StorageValue, for path: ColumnPath, isOrdered: Bool
    ) throws -> RemoteFilter.Value {
        switch (kind(path), value) {
        case (.bool, .integer(let value)): return .bool(value != 0)
        case (.integer, .integer(let value)), (.unsigned64, .integer(let value)):
            guard value.magnitude <= UInt64(WireFormat.greatestNumber) else { fallthrough }
            return .integer(value)
        case (.unsigned64, .blob):
            throw refusal(
                path, suffix: "",
                message: "A number beyond 2^53 is a text on the wire, which a server compares as such.")
        case (.double, .real(let value)) where value.isFinite: return .real(value)
        case (.float, .real(let value)) where value.isFinite:
            return .real(Double(Float(value).description) ?? value)
        case (.double, _), (.float, _): throw refusal(path, suffix: "", message: "No server holds infinity.")
        case (.string, .text(let text)), (.url, .text(let text)): return .text(text)
        case (.uuid, _):
            guard !isOrdered else { throw refusal(path, suffix: "", message: "Servers do not order UUIDs alike.") }
            guard let property = path.definition, case .text(let text) = try property.node(of: value) else { break }
            return .text(text)
        case (.reference, .text(let localID)):
            return .text(try reference(LocalID(localID), path: path).rawValue)
        case (.decimal, _), (.bigInt, _), (.bigUInt, _):
            throw refusal(
                path, suffix: "", message: "Its values are texts on the wire, which a server compares as such.")
        default: break
        }
        throw refusal(path, suffix: "", message: "Servers do not compare such values.")
    }

    private func reference(_ localID: LocalID, path: ColumnPath) throws -> ServerID {
        guard let target = path.definition?.targetModel?.table, let serverID = try serverID(localID, target)
        else {
            throw refusal(path, suffix: "", message: "The server does not know the object referred to yet. Push first.")
        }
        return serverID
    }

    // MARK: Texts

    private func passes(_ path: ColumnPath, test: Tandem.TextTest, text: String) throws -> RemoteFilter {
        let member = try member(path)
        let remoteTest: RemoteFilter.TextTest
        switch test {
        case .prefix: remoteTest = .prefix
        case .suffix: remoteTest = .suffix
        case .contains: remoteTest = .contains
        case .like:
            throw refusal(
                path, suffix: ".like", message: "Servers have no such patterns. Use hasPrefix, hasSuffix or contains.")
        }
        if text.isEmpty { return member.isOptional ? .not(.isNull(member)) : .constant(true) }
        return .text(member, test: remoteTest, operand: text)
    }
}

extension PropertyKind {
    /// Returns whether the values may include NaN, which is stored as bytes.
    fileprivate var isNumberWithNaN: Bool {
        switch self {
        case .double, .float, .date: true
        default: false
        }
    }
}

extension RemoteFilter.Comparison {
    init(_ comparison: Tandem.Comparison) {
        switch comparison {
        case .equal: self = .equal
        case .notEqual: self = .notEqual
        case .less: self = .less
        case .lessOrEqual: self = .lessOrEqual
        case .greater: self = .greater
        case .greaterOrEqual: self = .greaterOrEqual
        }
    }

    fileprivate var isOrder: Bool { self != .equal && self != .notEqual }
}
