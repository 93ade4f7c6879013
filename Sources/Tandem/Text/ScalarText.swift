/// Text compared by its Unicode scalars, as SQLite compares it, rather than by canonical equivalence, as `String` does.
///
/// The predicates of a query are read twice, as SQL and in Swift, and both readings must agree. To `String` the Ångström
/// sign U+212B equals the letter Å U+00C5, and an `e` with a combining acute is `é`; to SQLite those are different
/// texts. The order, too, is that of the UTF-8 bytes, which is the order of the scalars.
package enum ScalarText {
    package static func isEqual(_ a: String, _ b: String) -> Bool { compare(a, b, ByteSearch.isEqual) }

    /// Whether `a` comes before `b` in the order of `memcmp` on their UTF-8, a prefix before what it begins.
    static func isLess(_ a: String, _ b: String) -> Bool { compare(a, b, ByteSearch.isLess) }

    /// An empty prefix begins every text.
    static func hasPrefix(_ text: String, _ prefix: String) -> Bool { compare(text, prefix, ByteSearch.starts) }

    /// An empty suffix ends every text.
    static func hasSuffix(_ text: String, _ suffix: String) -> Bool { compare(text, suffix, ByteSearch.ends) }

    /// An empty needle is contained in every text.
    static func contains(_ text: String, _ needle: String) -> Bool { compare(text, needle, ByteSearch.contains) }

    /// Hashes in accord with ``isEqual(_:_:)``.
    static func hash(_ text: String, into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No byte of UTF-8: where one text ends and the next begins must tell.
        hasher.combine(0xFF as UInt8)
    }

    /// The smallest text that comes after all that begin with `prefix`, as UTF-8; `nil` if none does.
    ///
    /// `text >= prefix AND text < bound` then says what `hasPrefix` says, and can use an index:
    ///
    /// ```swift
    /// ScalarText.prefixUpperBound("лен")  // the UTF-8 of "лео"
    /// ```
    ///
    /// It is valid UTF-8, to be bound as text. The last scalar is raised by one, past the surrogates, which are none;
    /// U+10FFFF, which cannot be raised, is dropped and the one before it raised.
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
        _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool {
        var a = a
        var b = b
        return a.withUTF8 { a in b.withUTF8 { b in body(a, b) } }
    }
}
