/// Drops the marks of alphabets from what is to become a search key.
enum SearchMarks {
    /// Stands for a spacing accent, until the marks set on it are dropped with it. No scalar has this number.
    static let accent: UInt32 = 0x11_0000

    private static let breve: UInt32 = 0x306

    /// Drops each mark whose base is a letter of Latin, Greek, Cyrillic, Hebrew or Arabic, except the breve of й and ў.
    ///
    /// A mark's base is the last scalar before it that has combining class 0 and is no such mark. Marks need not be in
    /// canonical order: whatever is decided here is the same for each order that is canonically equivalent.
    static func drop(from scalars: inout [UInt32]) {
        let table = FoldingTables.normal
        var end = 0
        var base: UInt32?
        var baseFolds = false
        // Whether a breve would be composed with the base: nothing between them has its class, or class 0.
        var breveComposes = false
        for index in scalars.indices {
            let scalar = scalars[index]
            if scalar == accent {
                base = accent
                baseFolds = true
                breveComposes = false
                continue
            }
            let properties = table[scalar]
            let combiningClass = properties.combiningClass
            if properties.isFallingMark {
                if scalar == breve, breveComposes, base == 0x438 || base == 0x443 {
                    breveComposes = false
                } else if baseFolds {
                    if combiningClass == 0 || combiningClass == 230 { breveComposes = false }
                    continue
                }
            } else if combiningClass == 0 {
                base = scalar
                baseFolds = properties.isBase
                breveComposes = true
            } else if combiningClass == 230 {
                breveComposes = false
            }
            scalars[end] = scalar
            end += 1
        }
        scalars.removeSubrange(end...)
    }
}
