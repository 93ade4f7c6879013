import TandemTesting

@testable import Tandem

/// A property of a random model: its values, and the calls that `@Model` writes for a property of its family.
protocol RandomProperty: SendableMetatype {
    associatedtype Value: Hashable & Sendable
    static var codec: Codec<Value> { get }
    static var folding: PropertyDefinition.Folding { get }
    static func random(_ random: inout SeededGenerator) -> Value
    static func append(_ value: Value, to row: RowEncoder)
    static func read(_ row: RowDecoder, _ index: Int) throws -> Value
}

/// A property whose type has an optional form.
protocol RandomOptionalProperty: RandomProperty {
    static var optionalCodec: Codec<Value?> { get }
    static func append(optional value: Value?, to row: RowEncoder)
    static func readOptional(_ row: RowDecoder, _ index: Int) throws -> Value?
}

extension RandomProperty {
    static var folding: PropertyDefinition.Folding { .none }
}

/// The optional form of a property.
enum Maybe<Wrapped: RandomOptionalProperty>: RandomProperty {
    static var codec: Codec<Wrapped.Value?> { Wrapped.optionalCodec }
    static var folding: PropertyDefinition.Folding { Wrapped.folding }
    static func random(_ random: inout SeededGenerator) -> Wrapped.Value? {
        random.chance(1, in: 3) ? nil : Wrapped.random(&random)
    }
    static func append(_ value: Wrapped.Value?, to row: RowEncoder) { Wrapped.append(optional: value, to: row) }
    static func read(_ row: RowDecoder, _ index: Int) throws -> Wrapped.Value? { try Wrapped.readOptional(row, index) }
}

/// A property of a type that Tandem stores.
protocol PlainProperty: RandomOptionalProperty where Value: RandomValue {}

extension PlainProperty {
    static var codec: Codec<Value> { Codec.of(Value.self) }
    static var optionalCodec: Codec<Value?> { Codec.of(Value?.self) }
    static func random(_ random: inout SeededGenerator) -> Value { Value.random(&random) }
    static func append(_ value: Value, to row: RowEncoder) { row.append(value, as: Value.self) }
    static func append(optional value: Value?, to row: RowEncoder) { row.append(value, as: Value?.self) }
    static func read(_ row: RowDecoder, _ index: Int) throws -> Value { try row.value(index, as: Value.self) }
    static func readOptional(_ row: RowDecoder, _ index: Int) throws -> Value? { try row.value(index, as: Value?.self) }
}

enum Plain<Value: RandomValue>: PlainProperty {}

/// A text that sorts by its folded form.
enum SortedText: PlainProperty {
    typealias Value = String
    static var folding: PropertyDefinition.Folding { .sorted }
}

/// A text that has a search index.
enum SearchedText: PlainProperty {
    typealias Value = String
    static var folding: PropertyDefinition.Folding { .searched }
}

/// A property of an enum's type.
enum Case<Value: RawRepresentable & CaseIterable & Hashable & Sendable>: RandomOptionalProperty
where Value.RawValue: PropertyValue {
    static var codec: Codec<Value> { Codec.of(Value.self) }
    static var optionalCodec: Codec<Value?> { Codec.of(Value?.self) }
    static func random(_ random: inout SeededGenerator) -> Value { random.oneOf(Array(Value.allCases)) }
    static func append(_ value: Value, to row: RowEncoder) { row.append(value, as: Value.self) }
    static func append(optional value: Value?, to row: RowEncoder) { row.append(value, as: Value?.self) }
    static func read(_ row: RowDecoder, _ index: Int) throws -> Value { try row.value(index, as: Value.self) }
    static func readOptional(_ row: RowDecoder, _ index: Int) throws -> Value? { try row.value(index, as: Value?.self) }
}

/// A property of a `Codable` type.
enum Coded: RandomOptionalProperty {
    static var codec: Codec<Place> { Codec.of(Place.self) }
    static var optionalCodec: Codec<Place?> { Codec.of(Place?.self) }
    static func random(_ random: inout SeededGenerator) -> Place {
        Place(
            name: String.random(&random), latitude: random.oneOf([0, -0.0, 0.1, -89.99, 1e300, .infinity]),
            tags: random.chance(1, in: 3) ? nil : [String: Int].random(&random))
    }
    static func append(_ value: Place, to row: RowEncoder) { row.append(value, as: Place.self) }
    static func append(optional value: Place?, to row: RowEncoder) { row.append(value, as: Place?.self) }
    static func read(_ row: RowDecoder, _ index: Int) throws -> Place { try row.value(index, as: Place.self) }
    static func readOptional(_ row: RowDecoder, _ index: Int) throws -> Place? { try row.value(index, as: Place?.self) }
}

/// A reference to a tag of ``Links/tags``, or to none.
enum Link: RandomProperty {
    static var codec: Codec<Reference<Tag>?> { Codec.of(Reference<Tag>?.self) }
    static func random(_ random: inout SeededGenerator) -> Reference<Tag>? {
        random.chance(1, in: 3) ? nil : random.oneOf(Links.tags).reference
    }
    static func append(_ value: Reference<Tag>?, to row: RowEncoder) { row.append(value, as: Reference<Tag>?.self) }
    static func read(_ row: RowDecoder, _ index: Int) throws -> Reference<Tag>? {
        try row.value(index, as: Reference<Tag>?.self)
    }
}

/// References to tags that the store has, also several to one.
enum Links: RandomProperty {
    static let tags = (0..<4).map { Tag("tag \($0)").identified(by: LocalID("tag\($0)")) }

    static var codec: Codec<[Reference<Tag>]> { Codec.of([Reference<Tag>].self) }
    static func random(_ random: inout SeededGenerator) -> [Reference<Tag>] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in random.oneOf(tags).reference }
    }
    static func append(_ value: [Reference<Tag>], to row: RowEncoder) { row.append(value, as: [Reference<Tag>].self) }
    static func read(_ row: RowDecoder, _ index: Int) throws -> [Reference<Tag>] {
        try row.value(index, as: [Reference<Tag>].self)
    }
}
