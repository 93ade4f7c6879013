@testable import Tandem

/// A model that no store of these tests has.
struct HandStranger {
    var thing: Reference<Thing>?
    var __state = ObjectState()

    init(__row row: RowDecoder) throws {
        __state = try row.state
        thing = try row.value(0, as: Reference<Thing>?.self)
    }

    func __append(to row: RowEncoder) {
        row.append(thing, as: Reference<Thing>?.self)
    }

    static let __definition = ModelDefinition(
        HandStranger.self, name: "HandStranger",
        properties: [PropertyDefinition("thing", codec: Codec.of(Reference<Thing>?.self))])

    struct Columns: ModelColumns {
        typealias Root = HandStranger
        var thing: ReferenceProperty<HandStranger, Thing> { ReferenceProperty(HandStranger.__definition, index: 0) }
    }
}

extension HandStranger: Model {}
