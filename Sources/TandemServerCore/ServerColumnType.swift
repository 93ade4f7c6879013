/// The type of a declared column. It determines how filters and orders compare values.
///
/// For example:
///
/// ```swift
/// configuration.tables["film"] = ServerTable(columns: [
///     ServerColumn("year", type: .integer),
///     ServerColumn("rating", type: .enumeration(["G", "PG", "R"])),
///     ServerColumn("begins", type: .timeOfDay),
/// ])
/// ```
public enum ServerColumnType: Sendable, Hashable {
    /// True or false.
    case boolean
    /// A whole number. Division by a whole number drops the fraction in Datasync.
    case integer
    /// A floating-point number.
    case number
    /// A text, ordered by its UTF-8 bytes.
    case text
    /// A GUID, compared without case.
    case guid
    /// An instant such as `2026-11-21T03:14:33.887Z`.
    case instant
    /// A day such as `2026-11-21`.
    case date
    /// A time of day such as `07:14:00`, which `hour(x)`, `minute(x)` and `second(x)` read.
    case timeOfDay
    /// A duration such as `PT1H30M`.
    case duration
    /// A value from these names, ordered as declared.
    case enumeration([String])

    /// Parses a type from the command line of `tandem-server`: `boolean`, `integer`, `number`, `text`, `guid`,
    /// `instant`, `date`, `timeOfDay`, `duration`, or `enum(G,PG,R)`. Returns `nil` for any other text.
    public init?(_ text: String) {
        if text.hasPrefix("enum("), text.hasSuffix(")") {
            let names = text.dropFirst(5).dropLast().split(separator: ",", omittingEmptySubsequences: false)
                .map(\.trimmed)
            guard !names.contains(""), Set(names).count == names.count else { return nil }
            self = .enumeration(names)
            return
        }
        switch text {
        case "boolean": self = .boolean
        case "integer": self = .integer
        case "number": self = .number
        case "text": self = .text
        case "guid": self = .guid
        case "instant": self = .instant
        case "date": self = .date
        case "timeOfDay": self = .timeOfDay
        case "duration": self = .duration
        default: return nil
        }
    }

    var kind: FilterKind {
        switch self {
        case .boolean: .bool
        case .integer, .number: .number
        case .text: .text
        case .guid: .guid
        case .instant: .instant
        case .date: .day
        case .timeOfDay: .time
        case .duration: .duration
        case .enumeration(let names): .choice(names)
        }
    }

    /// Converts a row's value to this type. Returns it unchanged if it has another type.
    func typed(_ value: FilterValue) -> FilterValue {
        let type: FilterType
        switch self {
        case .boolean, .integer, .text: return value
        case .enumeration(let names):
            guard case .text(let name) = value, let place = names.firstIndex(of: name) else { return value }
            return .choice(place, of: names)
        case .number:
            guard case .integer(let number) = value else { return value }
            return .real(Double(number))
        case .guid: type = .guid
        case .instant: type = .dateTimeOffset
        case .date: type = .date
        case .timeOfDay: type = .timeOfDay
        case .duration: type = .duration
        }
        let typed = type.cast(value)
        if case .null = typed { return value }
        return typed
    }
}

extension ServerTable {
    /// Returns the declared column with a name, ignoring case.
    func column(named name: String) -> ServerColumn? {
        let folded = name.lowercased()
        return columns?.first { $0.name.lowercased() == folded }
    }

    /// The declared types, by names in lower case.
    var columnTypes: [String: ServerColumnType] {
        Dictionary(
            (columns ?? []).compactMap { column in column.type.map { (column.name.lowercased(), $0) } },
            uniquingKeysWith: { first, _ in first })
    }
}
