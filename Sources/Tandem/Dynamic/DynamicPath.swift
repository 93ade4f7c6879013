/// The path of a property by names, from a model: `shop`, `owner.name`, `tags`.
///
/// A path can also name a column of the state (`localID`, `serverID`, `isSynced`, `isDeleted`, `version`, `createdAt`,
/// `updatedAt`). Its last part can be the inverse links of an object: `@links.Card.owner` are the cards whose `owner`
/// is the object.
///
/// ```swift
/// let path: DynamicPath = "owner.city.name"
/// ```
public struct DynamicPath: Hashable, Sendable {
    /// The names, from the query's model on.
    public let names: [String]

    /// Creates a path from names.
    public init(_ names: [String]) {
        self.names = names
    }

    /// Creates a path from a text with a period between names.
    public init(_ text: String) {
        names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// The name that begins the inverse links in a path.
    static let links = "@links"
}

extension DynamicPath: ExpressibleByStringLiteral {
    /// Creates a path from a literal with a period between names.
    public init(stringLiteral value: String) { self.init(value) }
}

extension DynamicPath: CustomStringConvertible {
    /// The names with a period between them.
    public var description: String { names.joined(separator: ".") }
}
