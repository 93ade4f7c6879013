/// The values of a row that was inserted, and of its folded keys.
struct NewRow {
    /// The encoder of the row's properties, and the index of the first one.
    let values: RowEncoder
    var firstProperty = 0
    /// The encoder of the row's folded keys, and the index of the first one.
    let twins: RowEncoder
    var firstTwin = 0
    /// The row's references to objects that do not exist.
    let unresolved: [UnresolvedReference]
}
