/// Comparison of bytes without a C library.
enum ByteSearch {
    /// Returns whether `needle` occurs in `text`. An empty needle occurs in every text.
    static func contains(_ text: UnsafeBufferPointer<UInt8>, needle: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let pattern = needle.baseAddress, needle.count > 0 else { return true }
        guard let bytes = text.baseAddress, text.count >= needle.count else { return false }
        // Compare the last byte first. In Cyrillic or Greek text every other byte is the same lead byte. The byte that
        // ends a scalar distinguishes letters.
        let last = needle.count - 1
        let lastByte = pattern[last]
        for start in 0...(text.count - needle.count) where bytes[start + last] == lastByte {
            var offset = 0
            while offset < last, bytes[start + offset] == pattern[offset] { offset += 1 }
            if offset == last { return true }
        }
        return false
    }

    static func ends(_ text: UnsafeBufferPointer<UInt8>, with suffix: UnsafeBufferPointer<UInt8>) -> Bool {
        text.count >= suffix.count
            && isEqual(UnsafeBufferPointer(rebasing: text.suffix(suffix.count)), suffix, count: suffix.count)
    }

    static func isEqual(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool {
        a.count == b.count && isEqual(a, b, count: a.count)
    }

    static func isLess(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = min(a.count, b.count)
        var index = 0
        while index < count, a[index] == b[index] { index += 1 }
        return index < count ? a[index] < b[index] : a.count < b.count
    }

    private static func isEqual(
        _ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>, count: Int
    ) -> Bool {
        var index = 0
        while index < count, a[index] == b[index] { index += 1 }
        return index == count
    }
}
