/// Removal of combining marks from search keys.
enum SearchMarks {
    /// A placeholder for a spacing accent, until it is dropped together with its marks. No scalar has this number.
    static let accent: UInt32 = 0x11_0000

    private static let breve: UInt32 = 0x306

    /// Drops each mark whose base is a letter of Latin, Greek, Cyrillic, Hebrew or Arabic.
    ///
    /// The breve of й and ў stays.
    ///
    /// A mark's base is the last scalar before it that has combining class 0 and is not such a mark. Marks may be in
    /// any order: the result is the same for all canonically equivalent orders.
    static func drop(from scalars: inout [UInt32]) {
        let table = FoldingTables.normal
        var end = 0
        var base: UInt32?
        var baseFolds = false
        // Whether a breve would compose with the base: no mark between them has its class, or class 0.
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
