/// A range of sort keys, which an index finds.
package struct KeyRange: Hashable, Sendable {
    /// The first bytes in the range.
    let lower: [UInt8]
    /// The first bytes after the range, or `nil` if there are none.
    let upper: [UInt8]?

    init(lower: [UInt8], upper: [UInt8]?) {
        self.lower = lower
        self.upper = upper
    }

    /// Creates the range of all keys that begin with some bytes.
    init(prefix: [UInt8]) {
        lower = prefix
        var bound = prefix
        while let last = bound.popLast() {
            guard last < 0xFF else { continue }
            bound.append(last + 1)
            upper = bound
            return
        }
        upper = nil
    }

    func contains(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        let isAfterLower = lower.withUnsafeBufferPointer { !ByteSearch.isLess(key, $0) }
        return isAfterLower && (upper?.withUnsafeBufferPointer { ByteSearch.isLess(key, $0) } ?? true)
    }
}
