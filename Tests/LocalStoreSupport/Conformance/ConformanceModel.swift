import Foundation
import Tandem

/// A model with all features that concern a local store: defaults, a unique value, wire names, and references of each
/// kind and rule.
@Model(table: "things", wireName: "wireThings") package struct ConformanceModel {
    package var name: String
    package var count: Int = 0
    @Unique package var code: String?
    @Named(wire: "seenAt") package var at: Date?
    package var next: Reference<ConformanceModel>?
    package var parts: [Reference<Part>] = []
    @OnDelete(.cascade) package var owner: Reference<Part>?
    @LocalOnly package var note: String = ""
}

/// A model that refers to things and is referred to by them.
@Model(indexes: [.unique("title", "size")]) package struct Part {
    package var title: String
    package var size: Int?
    package var weight: Double = 0
    @OnDelete(.deny) package var home: Reference<ConformanceModel>?
}
