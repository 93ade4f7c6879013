import Tandem

/// A row of a table that the server serves.
@Model(
    .localOnly, table: "ServedRow",
    indexes: [.unique("table", "key"), .index("table", "changed", "key")]
)
struct ServedRow {
    /// The table's name in lower case: names in paths are case-insensitive.
    var table: String
    /// The row's ID on the wire.
    var key: String
    /// The row's own members as one JSON object, in order of arrival.
    var json: String
    /// The opaque version in base64, as responses contain it.
    var stamp: String
    /// The number of writes, from which Azure Mobile Apps derives its versions.
    var counter: Int64
    /// The time of creation, in milliseconds since 1970.
    var made: Int64
    /// The time of the last write, in milliseconds since 1970.
    var changed: Int64
    /// Whether the row is a tombstone, in a table that keeps them.
    var isTombstone: Bool
    /// The owner, in a table per user; empty elsewhere.
    var user: String
}

/// The discovered columns of a table that accepts any members.
@Model(.localOnly, table: "ServedTable")
struct ServedTable {
    @Unique var table: String
    /// The columns in order of discovery, as one JSON object of names and kinds.
    var columns: String
}
