import Tandem

/// One row of a table that the server serves.
@Model(
    .localOnly, table: "ServedRow",
    indexes: [.unique("table", "key"), .index("table", "changed", "key")]
)
struct ServedRow {
    /// The table's name in lower case: names in paths are told apart regardless of case.
    var table: String
    /// The row's ID on the wire.
    var key: String
    /// The row's own members as one JSON object, in the order in which they came.
    var json: String
    /// The opaque version as it goes over the wire: base64.
    var stamp: String
    /// How often the row was written: what Azure Mobile Apps makes its versions of.
    var counter: Int64
    /// When it was made, in milliseconds since 1970.
    var made: Int64
    /// When it was last written, in milliseconds since 1970.
    var changed: Int64
    /// A tombstone, in a table that deletes softly.
    var isTombstone: Bool
    /// Whose it is, in a table per user; empty elsewhere.
    var user: String
}

/// What is known of a table that takes any members: the columns that were seen in it.
@Model(.localOnly, table: "ServedTable")
struct ServedTable {
    @Unique var table: String
    /// The columns in the order in which they were first seen, as one JSON object of a name and a kind each.
    var columns: String
}
