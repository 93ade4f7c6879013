/// Whether two values of a property are the same, as the store tells values apart: texts by their Unicode scalars,
/// floating-point numbers by their bits. Used by the `==` that `@Model` writes.
public func __same<T: Equatable>(_ lhs: T, _ rhs: T) -> Bool {
    lhs == rhs
}

public func __same(_ lhs: String, _ rhs: String) -> Bool {
    ScalarText.isEqual(lhs, rhs)
}

public func __same(_ lhs: String?, _ rhs: String?) -> Bool {
    ScalarText.isEqual(lhs, rhs)
}

public func __same(_ lhs: Double, _ rhs: Double) -> Bool {
    lhs.bitPattern == rhs.bitPattern
}

public func __same(_ lhs: Double?, _ rhs: Double?) -> Bool {
    lhs?.bitPattern == rhs?.bitPattern
}

public func __same(_ lhs: Float, _ rhs: Float) -> Bool {
    lhs.bitPattern == rhs.bitPattern
}

public func __same(_ lhs: Float?, _ rhs: Float?) -> Bool {
    lhs?.bitPattern == rhs?.bitPattern
}

extension ScalarText {
    /// Whether two optional texts are the same.
    static func isEqual(_ lhs: String?, _ rhs: String?) -> Bool {
        switch (lhs, rhs) {
        case (nil, nil): true
        case (let lhs?, let rhs?): isEqual(lhs, rhs)
        default: false
        }
    }
}
