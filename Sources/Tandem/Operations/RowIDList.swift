/// A list of rowids, which a statement receives as a single value: a JSON array.
struct RowIDList {
    let json: StorageValue

    /// The number of rows that one statement changes. It limits the memory of a change.
    static let maximumCount = 4096

    init(_ rowIDs: some Sequence<Int64>) {
        var text = "["
        for rowID in rowIDs {
            if text.utf8.count > 1 { text += "," }
            text += String(rowID)
        }
        json = .text(text + "]")
    }

    /// Calls a function with consecutive parts of a list of keys.
    static func batches<Key>(
        of keys: [Key], count: Int = maximumCount, body: (ArraySlice<Key>) throws -> Void
    ) rethrows {
        var start = 0
        while start < keys.count {
            let end = min(start + count, keys.count)
            try body(keys[start..<end])
            start = end
        }
    }
}
