import Foundation

/// The tables that SQLite's preupdate hook has reported last, by their names as C strings. A change of an object also
/// changes the store's own tables, so that the hook reports several tables in turn.
struct ReportedTables<Table> {
    private var known: [(name: [CChar], table: Table?)] = []
    private static var maximum: Int { 8 }

    /// Returns the table with a name.
    ///
    /// - Parameters:
    ///   - name: The name, which ends with a zero byte.
    ///   - find: Returns a table that was not reported lately; `nil` if changes of the table do not matter.
    mutating func table(_ name: UnsafePointer<CChar>, find: (String) -> Table?) -> Table? {
        for each in known where strcmp(each.name, name) == 0 { return each.table }
        let table = find(String(cString: name))
        if known.count == Self.maximum { known.removeFirst() }
        known.append((Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1)), table))
        return table
    }
}
