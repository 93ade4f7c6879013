import Tandem

// Models of the process that tests start beside themselves, written as `@Model` would expand them. Only what a store
// needs: values are compared through the store, never with `==`.

/// The shared implementation of these models: identity by local ID, no coding.
package protocol PeerModel: Model {}

extension PeerModel {
    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.__state == rhs.__state }
    package func hash(into hasher: inout Hasher) { hasher.combine(__state) }
    package func encode(to encoder: any Encoder) throws { try __state.encode(to: encoder) }
}

package struct PeerPerson: PeerModel {
    package var name: String
    package var __state = ObjectState()

    package init(name: String) { self.name = name }
    package init(from decoder: any Decoder) throws {
        __state = try ObjectState(from: decoder)
        name = ""
    }
    package init(__row row: RowDecoder) throws {
        __state = try row.state
        name = try row.value(0, as: String.self)
    }
    package func __append(to row: RowEncoder) { row.append(name, as: String.self) }

    package static let __definition = ModelDefinition(
        PeerPerson.self, name: "PeerPerson",
        properties: [PropertyDefinition("name", codec: Codec.of(String.self), folding: .searched)])

    package struct Columns: ModelColumns {
        package typealias Root = PeerPerson
        package init() {}
        package var name: FoldedProperty<PeerPerson, String> {
            FoldedProperty(PeerPerson.__definition, index: 0, codec: Codec.of(String.self))
        }
    }
}

package struct PeerCard: PeerModel {
    package var shop: String
    package var barcode: String
    package var points: Int
    package var owner: Reference<PeerPerson>?
    package var people: [Reference<PeerPerson>]
    package var __state = ObjectState()

    package init(
        shop: String, barcode: String, points: Int = 0, owner: Reference<PeerPerson>? = nil,
        people: [Reference<PeerPerson>] = []
    ) {
        self.shop = shop
        self.barcode = barcode
        self.points = points
        self.owner = owner
        self.people = people
    }
    package init(from decoder: any Decoder) throws {
        self.init(shop: "", barcode: "")
        __state = try ObjectState(from: decoder)
    }
    package init(__row row: RowDecoder) throws {
        __state = try row.state
        shop = try row.value(0, as: String.self)
        barcode = try row.value(1, as: String.self)
        points = try row.value(2, as: Int.self)
        owner = try row.value(3, as: Reference<PeerPerson>?.self)
        people = try row.value(4, as: [Reference<PeerPerson>].self)
    }
    package func __append(to row: RowEncoder) {
        row.append(shop, as: String.self)
        row.append(barcode, as: String.self)
        row.append(points, as: Int.self)
        row.append(owner, as: Reference<PeerPerson>?.self)
        row.append(people, as: [Reference<PeerPerson>].self)
    }

    package static let __definition = ModelDefinition(
        PeerCard.self, name: "PeerCard",
        properties: [
            PropertyDefinition("shop", codec: Codec.of(String.self), folding: .searched),
            PropertyDefinition("barcode", codec: Codec.of(String.self), unique: true),
            PropertyDefinition("points", codec: Codec.of(Int.self), indexed: true, default: { 0 }),
            PropertyDefinition("owner", codec: Codec.of(Reference<PeerPerson>?.self)),
            PropertyDefinition("people", codec: Codec.of([Reference<PeerPerson>].self), default: { [] }),
        ])

    package struct Columns: ModelColumns {
        package typealias Root = PeerCard
        package init() {}
        package var shop: FoldedProperty<PeerCard, String> {
            FoldedProperty(PeerCard.__definition, index: 0, codec: Codec.of(String.self))
        }
    }
}

/// How many transactions of a script the store holds.
package struct PeerMark: PeerModel {
    package static let id: LocalID = "mark"
    package var number: Int
    package var __state = ObjectState()

    package init(number: Int) { self.number = number }
    package init(from decoder: any Decoder) throws {
        __state = try ObjectState(from: decoder)
        number = 0
    }
    package init(__row row: RowDecoder) throws {
        __state = try row.state
        number = try row.value(0, as: Int.self)
    }
    package func __append(to row: RowEncoder) { row.append(number, as: Int.self) }

    package static let __definition = ModelDefinition(
        PeerMark.self, name: "PeerMark", localOnly: true,
        properties: [PropertyDefinition("number", codec: Codec.of(Int.self))])

    package struct Columns: ModelColumns {
        package typealias Root = PeerMark
        package init() {}
    }
}

/// A later version of ``PeerPerson``, with one more property, in the same table.
package struct PeerPersonGrown: PeerModel {
    package var name: String
    package var city: String
    package var __state = ObjectState()

    package init(name: String, city: String) {
        self.name = name
        self.city = city
    }
    package init(from decoder: any Decoder) throws {
        self.init(name: "", city: "")
        __state = try ObjectState(from: decoder)
    }
    package init(__row row: RowDecoder) throws {
        __state = try row.state
        name = try row.value(0, as: String.self)
        city = try row.value(1, as: String.self)
    }
    package func __append(to row: RowEncoder) {
        row.append(name, as: String.self)
        row.append(city, as: String.self)
    }

    package static let __definition = ModelDefinition(
        PeerPersonGrown.self, name: "PeerPerson",
        properties: [
            PropertyDefinition("name", codec: Codec.of(String.self), folding: .searched),
            PropertyDefinition("city", codec: Codec.of(String.self), indexed: true, default: { "Псков" }),
        ])

    package struct Columns: ModelColumns {
        package typealias Root = PeerPersonGrown
        package init() {}
    }
}
