import Tandem

/// What a server is asked of each item: a query's predicate in terms of the wire, that remotes render.
///
/// It is true or false, never unknown: a comparison with null is Swift's with nil, so `x != 1` holds where `x` is null,
/// and `x < 1` does not. Whoever renders it for a server whose nulls make the answer unknown writes the test for null
/// out.
///
/// Times are at the precision of the wire, and the comparison is turned so that it asks the same of the server's
/// times, which are cut, as the predicate does of whole ones.
public indirect enum RemoteFilter: Hashable, Sendable {
    /// A member that a filter asks about.
    public struct Member: Hashable, Sendable {
        /// The name on the wire.
        public var name: String
        /// Whether it can be null.
        public var isOptional: Bool

        /// A member by its name on the wire.
        public init(_ name: String, isOptional: Bool = false) {
            self.name = name
            self.isOptional = isOptional
        }

        /// The item's key.
        public static let id = Member("id")
        /// The time of the last change.
        public static let updatedAt = Member("updatedAt", isOptional: true)
        /// The time of the insert.
        public static let createdAt = Member("createdAt", isOptional: true)
        /// Whether the item is deleted.
        public static let deleted = Member("deleted")
    }

    /// What a member is compared with.
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

    /// How a member is compared. Null equals null only, and is neither less nor greater.
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
    }

    /// Where in a text another one is looked for.
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
    /// Whether it does not hold.
    case not(RemoteFilter)
    /// Whether all hold. Never empty.
    case all([RemoteFilter])
    /// Whether one holds. Never empty.
    case any([RemoteFilter])
    /// Whether the member has no value.
    case isNull(Member)
    /// A member and a value.
    case comparison(Member, Comparison, Value)
    /// Two members of one item.
    case members(Member, Comparison, Member)
    /// Whether the member has one of some values, of which there is at least one.
    case among(Member, [Value])
    /// A test of a text that is not empty. Whether case counts is up to the server.
    case text(Member, TextTest, String)
}

extension RemoteFilter {
    /// Both; what is always true or false does not stay as a part.
    public static func && (lhs: RemoteFilter, rhs: RemoteFilter) -> RemoteFilter {
        every([lhs, rhs])
    }

    static func every(_ parts: [RemoteFilter]) -> RemoteFilter {
        var kept: [RemoteFilter] = []
        for part in parts {
            switch part {
            case .constant(true): continue
            case .constant(false): return part
            default: kept.append(part)
            }
        }
        return kept.count > 1 ? .all(kept) : kept.first ?? .constant(true)
    }

    static func some(_ parts: [RemoteFilter]) -> RemoteFilter {
        var kept: [RemoteFilter] = []
        for part in parts {
            switch part {
            case .constant(false): continue
            case .constant(true): return part
            default: kept.append(part)
            }
        }
        return kept.count > 1 ? .any(kept) : kept.first ?? .constant(false)
    }

    static func negated(_ filter: RemoteFilter) -> RemoteFilter {
        switch filter {
        case .constant(let value): .constant(!value)
        case .not(let inner): inner
        default: .not(filter)
        }
    }
}

/// A part of a query that no server can be asked. Nothing was sent.
public struct UnaskableFilter: Error, Hashable, Sendable, CustomStringConvertible {
    /// The model asked.
    public let model: String
    /// The part, as one would write it: `owner.name`, `shop.matches`.
    public let part: String
    /// Why not, and what to do, in a sentence or two.
    public let message: String

    public var description: String { "\(model).\(part): \(message)" }
}
