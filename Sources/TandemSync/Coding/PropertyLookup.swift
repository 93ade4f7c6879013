import Tandem

/// Which property each member of an item is, by its place in the model.
///
/// A server names the members of a table's items in one order, which need not be the model's: what the first item has
/// where is looked up, and of the others it is only made sure of.
struct PropertyLookup {
    /// Where the values are made, one after the other.
    let row = RowEncoder()
    private var known: [(name: String, place: Int?)] = []

    /// The place of the property that has a name on the wire, `nil` if none has it. Names are the same if their UTF-8
    /// is.
    ///
    /// - Complexity: O(1) if the item before had the name in the same place, else O(*n*) in the number of properties.
    mutating func index(of name: String, at index: Int, among properties: [PropertyDefinition]) -> Int? {
        if index < known.count, ScalarText.isEqual(known[index].name, name) { return known[index].place }
        let place = properties.firstIndex { ScalarText.isEqual($0.wireName, name) }
        if index < known.count {
            known[index] = (name, place)
        } else if index == known.count {
            known.append((name, place))
        }
        return place
    }
}
