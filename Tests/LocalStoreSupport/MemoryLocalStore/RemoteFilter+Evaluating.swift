import Foundation
import Tandem
import TandemSync

extension RemoteFilter {
    /// Returns whether an object matches this filter, for local stores that can't evaluate it in a query language.
    ///
    /// Texts are compared scalar by scalar, and case counts.
    ///
    /// - Parameters:
    ///   - object: An object, its references by server IDs.
    ///   - model: Its model.
    package func holds(for object: LocalObject, of model: ModelDefinition) -> Bool {
        switch self {
        case .constant(let value): value
        case .not(let filter): !filter.holds(for: object, of: model)
        case .all(let filters): filters.allSatisfy { $0.holds(for: object, of: model) }
        case .any(let filters): filters.contains { $0.holds(for: object, of: model) }
        case .isNull(let member): HeldValue(member, of: object, model) == nil
        case .comparison(let member, let comparison, let value):
            HeldValue.compare(HeldValue(member, of: object, model), comparison, HeldValue(value))
        case .members(let left, let comparison, let right):
            HeldValue.compare(HeldValue(left, of: object, model), comparison, HeldValue(right, of: object, model))
        case .among(let member, let values):
            values.contains { HeldValue.compare(HeldValue(member, of: object, model), .equal, HeldValue($0)) }
        case .text(let member, let test, let text):
            if case .text(let held)? = HeldValue(member, of: object, model) {
                test.passes(Array(held.utf8), Array(text.utf8))
            } else {
                false
            }
        }
    }
}

/// A value in a comparison.
private enum HeldValue: Equatable {
    case bool(Bool)
    case number(Double)
    case integer(Int64)
    case text(String)
    case time(Date)

    init(_ value: RemoteFilter.Value) {
        switch value {
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .number(value)
        case .text(let text): self = .text(text)
        case .time(let time): self = .time(time.date)
        }
    }

    /// `nil` for null.
    init?(_ member: RemoteFilter.Member, of object: LocalObject, _ model: ModelDefinition) {
        if !member.isSystemProperty, let property = model.properties.first(where: { $0.wireName == member.name }) {
            self.init(object.values[property.name] ?? .null, property)
            return
        }
        switch member {
        case .id:
            guard let serverID = object.serverID else { return nil }
            self = .text(serverID.rawValue)
        case .deleted: self = .bool(object.isDeleted)
        case .updatedAt, .createdAt:
            guard let date = member == .updatedAt ? object.updatedAt : object.createdAt else { return nil }
            self = .time(date)
        default: return nil
        }
    }

    private init?(_ value: StorageValue, _ property: PropertyDefinition) {
        switch (property.kind, value) {
        case (_, .null): return nil
        case (.bool, .integer(let value)): self = .bool(value != 0)
        case (.date, .real(let interval)): self = .time(Date(timeIntervalSinceReferenceDate: interval))
        case (_, .integer(let value)): self = .integer(value)
        case (_, .real(let value)): self = .number(value)
        case (.double, _), (.float, _), (.date, _): self = .number(.nan)
        default:
            guard case .text(let text)? = try? property.node(of: value) else { return nil }
            self = .text(text)
        }
    }

    /// Null equals null only, and is neither less nor greater.
    static func compare(_ left: HeldValue?, _ comparison: RemoteFilter.Comparison, _ right: HeldValue?) -> Bool {
        guard let left, let right else {
            return comparison == .equal && left == nil && right == nil
                || comparison == .notEqual && (left == nil) != (right == nil)
        }
        let (isEqual, isLess) = order(left, right)
        return switch comparison {
        case .equal: isEqual
        case .notEqual: !isEqual
        case .less: isLess
        case .lessOrEqual: isLess || isEqual
        case .greater: order(right, left).isLess
        case .greaterOrEqual: order(right, left).isLess || isEqual
        }
    }

    private static func order(_ left: HeldValue, _ right: HeldValue) -> (isEqual: Bool, isLess: Bool) {
        switch (left, right) {
        case (.bool(let left), .bool(let right)): (left == right, !left && right)
        case (.integer(let left), .integer(let right)): (left == right, left < right)
        case (.number(let left), .number(let right)): (left == right, left < right)
        case (.integer(let left), .number(let right)): (Double(left) == right, Double(left) < right)
        case (.number(let left), .integer(let right)): (left == Double(right), left < Double(right))
        case (.text(let left), .text(let right)):
            (left.utf8.elementsEqual(right.utf8), left.utf8.lexicographicallyPrecedes(right.utf8))
        case (.time(let left), .time(let right)): (left == right, left < right)
        default: (false, false)
        }
    }
}

extension RemoteFilter.TextTest {
    fileprivate func passes(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard part.count <= text.count else { return false }
        return switch self {
        case .prefix: text.starts(with: part)
        case .suffix: text.suffix(part.count).elementsEqual(part)
        case .contains:
            (0...(text.count - part.count)).contains { text[$0..<$0 + part.count].elementsEqual(part) }
        }
    }
}
