import Foundation

/// The tables that SQLite's preupdate hook has reported in a transaction, by their names as C strings. A change of an
/// object also changes the store's own tables, so that the hook reports several tables in turn.
struct ReportedTables<Table> {
    private var known: [(name: [CChar], table: Table?)] = []

    /// Returns the table with a name.
    ///
    /// - Parameters:
    ///   - name: The name, which ends with a zero byte.
    ///   - find: Returns a table that was not reported before; `nil` if changes of the table do not matter.
    mutating func table(_ name: UnsafePointer<CChar>, find: (String) -> Table?) -> Table? {
        for place in known.indices where strcmp(known[place].name, name) == 0 {
            // Tables with many changes move to the beginning.
            if place > 0 { known.swapAt(place, place - 1) }
            return known[max(0, place - 1)].table
        }
        let table = find(String(cString: name))
        known.append((Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1)), table))
        return table
    }
}
