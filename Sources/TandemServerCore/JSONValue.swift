/// A JSON value as it came over the wire: numbers by their digits, members in their order.
///
/// Two values are equal if they are written alike: strings are compared by their UTF-8, numbers by their text.
public enum JSONValue: Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number by its text, so that no digit is lost on the way through the server.
    case number(String)
    /// A string.
    case text(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)
}

/// The members of a JSON object, in the order in which they are written. Each name is there once.
public struct JSONObject: Sendable {
    /// The members, by name and value.
    public private(set) var members: [(name: String, value: JSONValue)] = []

    /// An object without members.
    public init() {}

    /// Members of one name: the last one counts, at the place of the first, as JavaScript and .NET read them.
    public init(_ members: [(name: String, value: JSONValue)]) {
        for (name, value) in members { self[name] = value }
    }

    /// Members whose names are known to differ.
    init(distinct members: [(name: String, value: JSONValue)]) { self.members = members }

    /// The value of the member with exactly this name. Setting nil takes the member out.
    public subscript(name: String) -> JSONValue? {
        get { place(of: name).map { members[$0].value } }
        set {
            switch (place(of: name), newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }

    private func place(of name: String) -> Int? {
        members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// Takes all members out whose names are this one in any case, and returns the last of them.
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

    /// The name of the member that has this name in any case.
    func name(ignoringCase name: String) -> String? {
        let folded = name.lowercased()
        return members.first { $0.name.lowercased() == folded }?.name
    }
}

extension JSONValue: Equatable {
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
    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int64) { self = .number(String(value)) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.map { ($0.0, $0.1) }))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements.map { ($0.0, $0.1) }) }
}
