/// A JSON value that keeps the digits of numbers and the order of members.
///
/// Two values are equal if their texts are: strings compare as UTF-8, numbers by their digits.
public enum JSONValue: Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number as its text, so that the server keeps each digit.
    case number(String)
    /// A string.
    case text(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)
}

/// The members of a JSON object, in order. Names are unique.
public struct JSONObject: Sendable {
    /// The members, by name and value.
    public private(set) var members: [(name: String, value: JSONValue)] = []

    /// Creates an object without members.
    public init() {}

    /// Creates an object. If a name is repeated, the last value counts, at the first position, as in JavaScript and
    /// .NET.
    public init(_ members: [(name: String, value: JSONValue)]) {
        for (name, value) in members { self[name] = value }
    }

    /// Creates an object from members with distinct names.
    init(distinct members: [(name: String, value: JSONValue)]) { self.members = members }

    /// The value of the member with exactly this name. Setting `nil` removes the member.
    public subscript(name: String) -> JSONValue? {
        get { position(of: name).map { members[$0].value } }
        set {
            switch (position(of: name), newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }

    private func position(of name: String) -> Int? {
        members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// Removes all members with this name, ignoring case. Returns the last of them.
    mutating func remove(ignoringCase name: String) -> JSONValue? {
        let folded = name.lowercased()
        var value: JSONValue?
        members.removeAll { member in
            guard member.name.lowercased() == folded else { return false }
            value = member.value
            return true
        }
        return value
    }

    /// Returns the name of the member that matches this name, ignoring case.
    func name(ignoringCase name: String) -> String? {
        let folded = name.lowercased()
        return members.first { $0.name.lowercased() == folded }?.name
    }
}

extension JSONValue: Equatable {
    /// Returns whether the texts of two values are equal.
    public static func == (lhs: JSONValue, rhs: JSONValue) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.bool(let lhs), .bool(let rhs)): lhs == rhs
        case (.number(let lhs), .number(let rhs)), (.text(let lhs), .text(let rhs)): lhs.utf8.elementsEqual(rhs.utf8)
        case (.array(let lhs), .array(let rhs)): lhs == rhs
        case (.object(let lhs), .object(let rhs)): lhs == rhs
        default: false
        }
    }
}

extension JSONObject: Equatable {
    /// Returns whether two objects have equal members in the same order.
    public static func == (lhs: JSONObject, rhs: JSONObject) -> Bool {
        lhs.members.count == rhs.members.count
            && zip(lhs.members, rhs.members).allSatisfy { left, right in
                left.name.utf8.elementsEqual(right.name.utf8) && left.value == right.value
            }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Creates a number.
    public init(integerLiteral value: Int64) { self = .number(String(value)) }
    /// Creates a Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a null.
    public init(nilLiteral: ()) { self = .null }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.map { ($0.0, $0.1) }))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object. If a name is repeated, the last value counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements.map { ($0.0, $0.1) }) }
}
