import Foundation

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

public func __same(_ lhs: Date, _ rhs: Date) -> Bool {
    __same(lhs.timeIntervalSinceReferenceDate, rhs.timeIntervalSinceReferenceDate)
}

public func __same(_ lhs: Date?, _ rhs: Date?) -> Bool {
    __same(lhs?.timeIntervalSinceReferenceDate, rhs?.timeIntervalSinceReferenceDate)
}

// Collections are the same if they are stored alike. Their own `==` asks the elements'.

public func __same<T: PropertyValue>(_ lhs: [T], _ rhs: [T]) -> Bool {
    lhs.count == rhs.count && lhs.__json == rhs.__json
}

public func __same<T: PropertyValue>(_ lhs: [T]?, _ rhs: [T]?) -> Bool {
    lhs?.__json == rhs?.__json
}

public func __same<T: PropertyValue>(_ lhs: Set<T>, _ rhs: Set<T>) -> Bool {
    lhs.count == rhs.count && lhs.__json == rhs.__json
}

public func __same<T: PropertyValue>(_ lhs: Set<T>?, _ rhs: Set<T>?) -> Bool {
    lhs?.__json == rhs?.__json
}

public func __same<T: PropertyValue>(_ lhs: [String: T], _ rhs: [String: T]) -> Bool {
    lhs.count == rhs.count && lhs.__json == rhs.__json
}

public func __same<T: PropertyValue>(_ lhs: [String: T]?, _ rhs: [String: T]?) -> Bool {
    lhs?.__json == rhs?.__json
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
