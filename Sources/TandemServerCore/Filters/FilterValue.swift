/// A value in the evaluation of a filter.
enum FilterValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    /// An instant, in ticks since 1970.
    case instant(Int64)
    /// A day, in days since 1970.
    case day(Int64)
    /// A time of day, in ticks since midnight.
    case time(Int64)
    /// A duration, in ticks.
    case duration(Int64)
    /// A GUID in lower case.
    case guid(String)
    /// A value of an enum, as its index in the declared names.
    case choice(Int, of: [String])
    /// An array or an object in a row.
    case json(JSONValue)

    /// Creates the value of a row's member. If `hasIntegers` is false, all numbers are floating-point.
    init(_ value: JSONValue, hasIntegers: Bool) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let digits):
            if hasIntegers, let integer = Int64(digits) {
                self = .integer(integer)
            } else {
                self = Double(digits).map { .real($0) } ?? .null
            }
        case .text(let text): self = .text(text)
        case .array, .object: self = .json(value)
        }
    }

    var kind: FilterKind {
        switch self {
        case .null: .unknown
        case .bool: .bool
        case .integer, .real: .number
        case .text: .text
        case .instant: .instant
        case .day: .day
        case .time: .time
        case .duration: .duration
        case .guid: .guid
        case .choice(_, let names): .choice(names)
        case .json: .unknown
        }
    }
}

/// The static type of an expression.
enum FilterKind: Sendable, Equatable {
    /// A member of a row, which may have any type or be null.
    case unknown
    case bool, number, text, instant, day, time, duration, guid
    /// An enum with its declared names. Filters contain them as texts.
    case choice([String])

    /// Returns whether values of these kinds can be compared. Times and GUIDs are texts in rows, and on some clients.
    func isComparable(with other: FilterKind) -> Bool {
        switch (self, other) {
        case (.unknown, _), (_, .unknown): true
        case (.guid, .text), (.text, .guid), (.instant, .day), (.day, .instant): true
        case (.choice, .text), (.text, .choice): true
        default: self == other
        }
    }
}

extension FilterValue {
    /// Returns a negative number if `lhs` comes first, a positive one if `rhs` does, zero if they are equal. Returns
    /// `nil` if they can't be compared, as with null or NaN.
    static func compare(_ lhs: FilterValue, _ rhs: FilterValue) -> Int? {
        switch (lhs, rhs) {
        case (.integer(let lhs), .integer(let rhs)): order(lhs, rhs)
        case (.integer, .real), (.real, .integer), (.real, .real):
            lhs.double.flatMap { lhs in
                rhs.double.flatMap { rhs in lhs.isNaN || rhs.isNaN ? nil : order(lhs, rhs) }
            }
        case (.text(let lhs), .text(let rhs)): order(text: lhs, rhs)
        case (.bool(let lhs), .bool(let rhs)): order(lhs ? 1 : 0, rhs ? 1 : 0)
        case (.instant(let lhs), .instant(let rhs)), (.day(let lhs), .day(let rhs)), (.time(let lhs), .time(let rhs)),
            (.duration(let lhs), .duration(let rhs)):
            order(lhs, rhs)
        case (.guid(let lhs), .guid(let rhs)): order(text: lhs, rhs)
        case (.guid(let lhs), .text(let rhs)): order(text: lhs, rhs.lowercased())
        case (.text(let lhs), .guid(let rhs)): order(text: lhs.lowercased(), rhs)
        case (.choice(let lhs, _), .choice(let rhs, _)): order(lhs, rhs)
        case (.choice(let lhs, let names), .text(let rhs)): names.firstIndex(of: rhs).map { order(lhs, $0) }
        case (.text(let lhs), .choice(let rhs, let names)): names.firstIndex(of: lhs).map { order($0, rhs) }
        case (.text, .instant), (.text, .day), (.day, .instant), (.instant, .text), (.instant, .day), (.day, .text):
            lhs.instant.flatMap { lhs in rhs.instant.map { rhs in order(lhs, rhs) } }
        case (.text(let lhs), .time(let rhs)): WireDateText.parseTime(lhs).map { order($0, rhs) }
        case (.time(let lhs), .text(let rhs)): WireDateText.parseTime(rhs).map { order(lhs, $0) }
        case (.text(let lhs), .duration(let rhs)): WireDateText.parseDuration(lhs).map { order($0, rhs) }
        case (.duration(let lhs), .text(let rhs)): WireDateText.parseDuration(rhs).map { order(lhs, $0) }
        case (.json(let lhs), .json(let rhs)): lhs == rhs ? 0 : nil
        default: nil
        }
    }

    private static func order<T: Comparable>(_ lhs: T, _ rhs: T) -> Int { lhs < rhs ? -1 : lhs > rhs ? 1 : 0 }

    /// Compares UTF-8 bytes. Swift's own order treats two encodings of "é" as equal, but servers treat them as
    /// different IDs.
    private static func order(text lhs: String, _ rhs: String) -> Int {
        if lhs.utf8.elementsEqual(rhs.utf8) { return 0 }
        return lhs.utf8.lexicographicallyPrecedes(rhs.utf8) ? -1 : 1
    }

    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }

    /// The instant that the value is, or that its text contains.
    var instant: Int64? {
        switch self {
        case .instant(let ticks): ticks
        case .day(let days): WireDateText.ticks(ofDays: days)
        case .text(let text): WireDateText.parse(text)
        default: nil
        }
    }

    /// Compares any two values, to sort rows: nulls first, then by type.
    static func sorts(_ lhs: FilterValue, before rhs: FilterValue) -> Int {
        if let order = compare(lhs, rhs) { return order }
        return order(lhs.rank, rhs.rank)
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .integer, .real: 2
        case .text, .guid: 3
        case .instant, .day: 4
        case .time: 5
        case .duration: 6
        case .choice: 7
        case .json: 8
        }
    }
}
