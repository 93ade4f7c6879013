import Foundation

/// The order of strings that SQLite's BINARY collation has: that of their UTF-8 bytes.
///
/// Swift's `==` and `<` compare canonical forms, and hold "é" in its two spellings to be one string. They are two keys
/// to everything else that reads the store.
enum UTF8Order {
    /// Returns a negative number if `lhs` comes first, a positive one if `rhs` does, and zero if the bytes are the
    /// same.
    static func compare(_ lhs: String, _ rhs: String) -> Int {
        let order: Int?? = lhs.utf8.withContiguousStorageIfAvailable { left in
            rhs.utf8.withContiguousStorageIfAvailable { right in
                let common = min(left.count, right.count)
                if common > 0 {
                    let order = memcmp(left.baseAddress!, right.baseAddress!, common)
                    if order != 0 { return Int(order) }
                }
                return left.count - right.count
            }
        }
        if case .some(.some(let order)) = order { return order }
        // Only strings bridged from Objective-C are not contiguous.
        if lhs.utf8.elementsEqual(rhs.utf8) { return 0 }
        return lhs.utf8.lexicographicallyPrecedes(rhs.utf8) ? -1 : 1
    }
}
