import Tandem

/// The values of an object's properties that were sent since the server's last response. The server may have any of
/// them.
struct MemoryAttempts: Sendable {
    private struct Values {
        /// The values of attempts with an unknown outcome, oldest first.
        var settled: [StorageValue] = []
        /// The value of the current attempt. It is dropped if the attempt was not carried out.
        var current: StorageValue?

        mutating func settle() {
            guard let value = current else { return }
            current = nil
            settled.removeAll { $0 == value }
            settled.append(value)
            if settled.count > limit { settled.removeFirst() }
        }
    }

    /// The maximum number of values kept for a property. Older ones are dropped.
    static let limit = 16

    private var properties: [String: Values] = [:]

    /// Records a value of the current attempt, in the server's rounded form.
    mutating func note(_ value: StorageValue, of property: String) {
        properties[property, default: Values()].settle()
        properties[property, default: Values()].current = value
    }

    /// Records that the current attempt may have been carried out.
    mutating func settle() {
        for name in properties.keys { properties[name]?.settle() }
    }

    /// Records that the current attempt was not carried out.
    mutating func forgetCurrent() {
        for name in properties.keys { properties[name]?.current = nil }
        properties = properties.filter { !$1.settled.isEmpty }
    }

    func contains(_ value: StorageValue, of property: String) -> Bool {
        guard let values = properties[property] else { return false }
        return values.current == value || values.settled.contains(value)
    }

    /// Returns whether another value of a property was sent.
    func hasOther(than value: StorageValue, of property: String) -> Bool {
        guard let values = properties[property] else { return false }
        return values.current.map { $0 != value } ?? false || values.settled.contains { $0 != value }
    }

    /// Returns whether any value of a property was sent.
    func names(_ property: String) -> Bool { properties[property] != nil }
}
