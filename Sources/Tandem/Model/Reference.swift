import Foundation

/// A link from one object to another: the local ID of an object of another model (or of the same).
///
/// For example:
///
/// ```swift
/// @Model struct Card {
///     var owner: Reference<Person>?                        // to one
///     @OnDelete(.deny) var brand: Reference<Brand>?
///     var tags: [Reference<Tag>]                           // to many, in order
/// }
/// let card = Card(shop: "Лента", owner: person.reference)
/// let owner = try store.object(card.owner)
/// ```
///
/// A reference to an object that is not in the store (it has not arrived from the server yet, or is deleted) reads
/// as nil, is kept, and resolves when the object comes.
public struct Reference<Target: Model>: Hashable, Sendable {
    /// The local ID of the object referred to.
    public let localID: LocalID

    /// A reference to an object.
    public init(_ object: Target) {
        localID = object.localID
    }

    /// A reference to the object with a local ID, which need not be in the store yet.
    public init(localID: LocalID) {
        self.localID = localID
    }
}

extension Reference: Codable {
    public init(from decoder: any Decoder) throws {
        localID = try LocalID(from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        try localID.encode(to: encoder)
    }
}

extension Reference: CustomStringConvertible {
    public var description: String { localID.rawValue }
}

/// What deleting an object does to those that refer to it.
public enum DeleteRule: String, Hashable, Sendable, Codable {
    /// The reference becomes nil (leaves the list). The default.
    case nullify
    /// The object that refers to it is deleted too.
    case cascade
    /// The delete is refused while an object refers to it.
    case deny
}

/// The objects that refer to this one, through one of their references. Nothing is stored for it.
///
/// For example:
///
/// ```swift
/// @Model struct Person {
///     @Folded var name: String
///     @Inverse(\Card.owner) var cards: InverseLinks<Card>
/// }
/// let rich = store.objects(Person.self).where { $0.cards.any { $0.points > 1000 } }
/// let cards = try store.objects(person.cards).all()
/// ```
public struct InverseLinks<Source: Model>: Hashable, Sendable {
    /// The local ID of the object that is referred to.
    public let target: LocalID

    /// The index of the reference among the source model's properties.
    let property: Int

    /// Written by `@Inverse`: the objects that refer to a target through one of their references.
    public init<Link: LinkProperty>(to target: LocalID, through link: KeyPath<Source.Columns, Link>) {
        self.target = target
        self.property = Source.Columns()[keyPath: link].__propertyIndex
    }

    init(target: LocalID, property: Int) {
        self.target = target
        self.property = property
    }
}

/// A property that links to other objects: a reference or a list of references, as queries name it.
public protocol LinkProperty<Root, Target>: Sendable {
    associatedtype Root: Model
    associatedtype Target: Model
    var __propertyIndex: Int { get }
}
