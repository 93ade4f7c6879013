/// Comparison of texts by their Unicode scalars, as in SQLite. `String` compares by canonical equivalence instead.
///
/// A query's predicates are evaluated both in SQL and in Swift, and the results must agree. `String` treats the
/// Ångström sign U+212B as equal to the letter Å U+00C5. It treats an `e` with a combining acute as equal to `é`. SQL
/// treats them as different texts. The order is that of the UTF-8 bytes, which is the order of the scalars.
package enum ScalarText {
    package static func isEqual(_ a: String, _ b: String) -> Bool { compare(a, b, by: ByteSearch.isEqual) }

    /// Returns whether `a` comes before `b` in the order of `memcmp` on their UTF-8. A prefix comes before its
    /// extensions.
    static func isLess(_ a: String, _ b: String) -> Bool { compare(a, b, by: ByteSearch.isLess) }

    /// Hashes consistently with ``isEqual(_:_:)``.
    static func hash(_ text: String, into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // This byte does not occur in UTF-8, so it marks the end of the text.
        hasher.combine(0xFF as UInt8)
    }

    /// Returns the smallest text after all texts that begin with `prefix`, as UTF-8, or `nil` if there is none.
    ///
    /// `text >= prefix AND text < bound` holds for exactly the texts that begin with the prefix, and can use an index:
    ///
    /// ```swift
    /// ScalarText.prefixUpperBound("лен")  // the UTF-8 of "лео"
    /// ```
    ///
    /// The result is valid UTF-8, to be bound as text. It is the prefix with its last scalar increased by one, which
    /// skips the surrogates. U+10FFFF can't be increased: it is dropped, and the scalar before it is increased.
    static func prefixUpperBound(_ prefix: String) -> [UInt8]? {
        var scalars = String.UnicodeScalarView(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            if let raised = Unicode.Scalar(next) {
                scalars.append(raised)
                return Array(String(scalars).utf8)
            }
        }
        return nil
    }

    @inline(__always)
    private static func compare(
        _ a: String, _ b: String,
        by body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool {
        var a = a
        var b = b
        return a.withUTF8 { a in b.withUTF8 { b in body(a, b) } }
    }
}
