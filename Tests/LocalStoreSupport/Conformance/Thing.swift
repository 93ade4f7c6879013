import Foundation
import Tandem

/// A model with all that a local store has to know of one: defaults, a unique value, names of its own on the wire,
/// references of each kind and rule.
@Model(table: "things", wireName: "wireThings") package struct Thing {
    package var name: String
    package var count: Int = 0
    @Unique package var code: String?
    @Named(wire: "seenAt") package var at: Date?
    package var next: Reference<Thing>?
    package var parts: [Reference<Part>] = []
    @OnDelete(.cascade) package var owner: Reference<Part>?
    @LocalOnly package var note: String = ""
}

/// What things refer to, and what refers to things.
@Model(indexes: [.unique("title", "size")]) package struct Part {
    package var title: String
    package var size: Int?
    package var weight: Double = 0
    @OnDelete(.deny) package var home: Reference<Thing>?
}
