import Tandem

/// A filter of a server's items: a query's predicate in terms of the wire, which remotes render.
///
/// It is true or false, never unknown: a comparison with null is Swift's with nil, so `x != 1` holds where `x` is null,
/// and `x < 1` does not. A remote whose server has three-valued logic must add explicit tests for null.
///
/// Times have the precision of the wire. The comparison is adapted to the server's truncated times. It has the same
/// meaning as the predicate has for exact times.
public indirect enum RemoteFilter: Hashable, Sendable {
    /// A member in a filter.
    public struct Member: Hashable, Sendable {
        /// The name on the wire.
        public let name: String
        /// Whether the member can be null.
        public let isOptional: Bool
        /// Whether the server itself keeps the member for each item, as it does ``id``. A property of a model may have
        /// the same name, if the server does not reserve that name.
        public let isSystemProperty: Bool

        /// Creates a member for a property of a model from its name on the wire.
        ///
        /// - Parameters:
        ///   - name: The member's name on the wire.
        ///   - isOptional: Whether the member may be null.
        public init(_ name: String, isOptional: Bool = false) {
            self.name = name
            self.isOptional = isOptional
            isSystemProperty = false
        }

        private init(system name: String, isOptional: Bool = false) {
            self.name = name
            self.isOptional = isOptional
            isSystemProperty = true
        }

        /// The item's key.
        public static let id = Member(system: "id")
        /// The time of the last change.
        public static let updatedAt = Member(system: "updatedAt", isOptional: true)
        /// The time of the insert.
        public static let createdAt = Member(system: "createdAt", isOptional: true)
        /// Whether the item is deleted.
        public static let deleted = Member(system: "deleted")
    }

    /// A constant in a comparison.
    public enum Value: Hashable, Sendable {
        /// True or false.
        case bool(Bool)
        /// Within ±2^53.
        case integer(Int64)
        /// A finite number.
        case real(Double)
        /// A text, an ID, a UUID in lower case.
        case text(String)
        /// A time at the precision of the wire.
        case time(WireTimestamp)
    }

    /// An operator of a comparison. Null equals only null, and is neither less nor greater.
    public enum Comparison: Hashable, Sendable, CaseIterable {
        /// The same value. Null equals null.
        case equal
        /// Another value, or null where the other side is not.
        case notEqual
        /// A lesser value.
        case less
        /// A lesser value or the same.
        case lessOrEqual
        /// A greater value.
        case greater
        /// A greater value or the same.
        case greaterOrEqual

        /// The operator that is true for two values if and only if this one is false.
        package var opposite: Self {
            switch self {
            case .equal: .notEqual
            case .notEqual: .equal
            case .less: .greaterOrEqual
            case .lessOrEqual: .greater
            case .greater: .lessOrEqual
            case .greaterOrEqual: .less
            }
        }
    }

    /// The position of a searched text within another one.
    public enum TextTest: Hashable, Sendable, CaseIterable {
        /// At its beginning.
        case prefix
        /// At its end.
        case suffix
        /// Anywhere in it.
        case contains
    }

    /// Always true, or never.
    case constant(Bool)
    /// Whether the filter does not hold.
    case not(RemoteFilter)
    /// Whether all filters hold. Never empty.
    case all([RemoteFilter])
    /// Whether at least 1 filter holds. Never empty.
    case any([RemoteFilter])
    /// Whether the member has no value.
    case isNull(Member)
    /// A member and a value.
    case comparison(Member, by: Comparison, to: Value)
    /// Two members of one item.
    case members(Member, by: Comparison, to: Member)
    /// Whether the member has one of some values, of which there is at least one.
    case among(Member, values: [Value])
    /// A test of a text that is not empty. Whether case counts is up to the server.
    case text(Member, test: TextTest, operand: String)
}

extension RemoteFilter {
    /// Returns the conjunction of filters, without constant parts.
    public static func && (lhs: RemoteFilter, rhs: RemoteFilter) -> RemoteFilter {
        every([lhs, rhs])
    }

    static func every(_ parts: [RemoteFilter]) -> RemoteFilter { joined(parts, neutral: true) }

    static func some(_ parts: [RemoteFilter]) -> RemoteFilter { joined(parts, neutral: false) }

    /// Joins filters to a conjunction or a disjunction, without constant parts.
    ///
    /// - Parameter neutral: The constant that does not affect the result. The other one determines it.
    private static func joined(_ parts: [RemoteFilter], neutral: Bool) -> RemoteFilter {
        if parts.contains(.constant(!neutral)) { return .constant(!neutral) }
        let kept = parts.filter { $0 != .constant(neutral) }
        guard kept.count > 1 else { return kept.first ?? .constant(neutral) }
        return neutral ? .all(kept) : .any(kept)
    }

    static func negated(_ filter: RemoteFilter) -> RemoteFilter {
        switch filter {
        case .constant(let value): .constant(!value)
        case .not(let inner): inner
        default: .not(filter)
        }
    }
}

/// A part of a query that can't be sent to a server. Nothing was sent.
public struct UnsupportedFilterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The model of the query.
    public let model: String
    /// The part in source notation: `owner.name`, `shop.matches`.
    public let part: String
    /// The reason, with advice, in a sentence or two.
    public let message: String

    /// A text for logs and messages.
    public var description: String { "\(model).\(part): \(message)" }
}
