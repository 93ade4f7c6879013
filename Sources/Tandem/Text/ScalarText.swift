enum ScalarText {
    static func isEqual(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }
    static func isEqual(_ a: String?, _ b: String?) -> Bool {
        switch (a, b) { case (nil, nil): true; case (let a?, let b?): isEqual(a, b); default: false }
    }
    static func isLess(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
    static func hash(_ a: String, into hasher: inout Hasher) { for b in a.utf8 { hasher.combine(b) } }
}
