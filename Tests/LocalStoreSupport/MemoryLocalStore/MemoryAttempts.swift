import Tandem

/// The values of an object's properties that were sent since the server's last response. The server may have any of
/// them.
struct MemoryAttempts: Sendable {
    private struct Values {
        /// The values of attempts with an unknown outcome, oldest first.
        var mayHaveExecuted: [StorageValue] = []
        /// The value of the current attempt. It is dropped if the attempt was not carried out.
        var current: StorageValue?

        mutating func markMayHaveExecuted() {
            guard let value = current else { return }
            current = nil
            mayHaveExecuted.removeAll { $0 == value }
            mayHaveExecuted.append(value)
            if mayHaveExecuted.count > limit { mayHaveExecuted.removeFirst() }
        }
    }

    /// The maximum number of values kept for a property. Older ones are dropped.
    static let limit = 16

    private var properties: [String: Values] = [:]

    /// Records a value of the current attempt, in the server's rounded form.
    mutating func record(_ value: StorageValue, of property: String) {
        properties[property, default: Values()].markMayHaveExecuted()
        properties[property, default: Values()].current = value
    }

    /// Records that the current attempt may have been carried out.
    mutating func markMayHaveExecuted() {
        for name in properties.keys { properties[name]?.markMayHaveExecuted() }
    }

    /// Records that the current attempt was not carried out.
    mutating func forgetCurrent() {
        for name in properties.keys { properties[name]?.current = nil }
        properties = properties.filter { !$1.mayHaveExecuted.isEmpty }
    }

    func contains(_ value: StorageValue, of property: String) -> Bool {
        guard let values = properties[property] else { return false }
        return values.current == value || values.mayHaveExecuted.contains(value)
    }

    /// Returns whether an earlier attempt sent this value, and no attempt another one.
    func haveOnly(_ value: StorageValue, of property: String) -> Bool {
        properties[property]?.mayHaveExecuted.contains(value) == true && !hasOther(than: value, of: property)
    }

    /// Returns whether another value of a property was sent.
    func hasOther(than value: StorageValue, of property: String) -> Bool {
        guard let values = properties[property] else { return false }
        return values.current.map { $0 != value } ?? false || values.mayHaveExecuted.contains { $0 != value }
    }

    /// Returns whether any value of a property was sent.
    func names(_ property: String) -> Bool { properties[property] != nil }
}
