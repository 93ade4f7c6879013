import Tandem

/// Finds the properties of an item's members, by their indices in the model.
///
/// A server names the members of a table's items in a fixed order, which can differ from the model's. The first item is
/// looked up name by name. For the others, the names are only compared.
struct PropertyLookup {
    /// A reusable encoder for the values.
    let row = RowEncoder()
    private var known: [(name: String, place: Int?)] = []

    /// Returns the index of the property with a name on the wire, or `nil` if there is none. Names are equal if their
    /// UTF-8 is.
    ///
    /// - Complexity: O(1) if the previous item had the name at the same index, otherwise O(*n*) for *n* properties.
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
