import Foundation

/// The tables that SQLite's preupdate hook has reported in a transaction, by their names as C strings. A change of an
/// object also changes the store's own tables, so that the hook reports several tables in turn.
struct ReportedTables<Table> {
    private var known: [(name: ContiguousArray<CChar>, table: Table?)] = []

    /// Returns the table with a name.
    ///
    /// - Parameters:
    ///   - name: The name, which ends with a zero byte.
    ///   - find: Returns a table that was not reported before; `nil` if changes of the table do not matter.
    mutating func table(_ name: UnsafePointer<CChar>, find: (String) -> Table?) -> Table? {
        let isNamed = { (entry: (name: ContiguousArray<CChar>, table: Table?)) in
            entry.name.withUnsafeBufferPointer { strcmp($0.baseAddress!, name) == 0 }
        }
        if let place = known.firstIndex(where: isNamed) {
            // Tables with many changes move to the beginning.
            if place > 0 { known.swapAt(place, place - 1) }
            return known[max(0, place - 1)].table
        }
        let table = find(String(cString: name))
        // These bytes, and not those of the text, which would not be equal if the name were not valid UTF-8.
        known.append((ContiguousArray(UnsafeBufferPointer(start: name, count: strlen(name) + 1)), table))
        return table
    }
}
