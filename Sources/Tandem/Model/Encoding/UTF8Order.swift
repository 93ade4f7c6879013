import Foundation

/// The order of strings in SQLite's BINARY collation: that of their UTF-8 bytes.
///
/// Swift's `==` and `<` compare canonical forms, so the two forms of "é" are equal. For every other reader of the store
/// they are two keys.
enum UTF8Order {
    /// Compares two texts by their UTF-8 bytes.
    ///
    /// Returns a negative number if `lhs` comes first, and a positive number if `rhs` does. Equal bytes give zero.
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
