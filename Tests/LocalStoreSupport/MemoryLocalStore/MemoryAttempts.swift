import Tandem

/// What was sent of an object's properties since the server last answered: the server may hold any of it.
struct MemoryAttempts: Sendable {
    private struct Values {
        /// Those that may be there, oldest first.
        var settled: [StorageValue] = []
        /// That of the attempt under way: if it was surely not carried out, nobody has it.
        var current: StorageValue?

        mutating func settle() {
            guard let value = current else { return }
            current = nil
            settled.removeAll { $0 == value }
            settled.append(value)
            if settled.count > limit { settled.removeFirst() }
        }
    }

    /// Of a property only the last ones are kept.
    static let limit = 16

    private var properties: [String: Values] = [:]

    /// Notes that a value is being sent, in the form in which it comes back.
    mutating func note(_ value: StorageValue, of property: String) {
        properties[property, default: Values()].settle()
        properties[property, default: Values()].current = value
    }

    /// The attempt under way may have been carried out.
    mutating func settle() {
        for name in properties.keys { properties[name]?.settle() }
    }

    /// The attempt under way was surely not carried out.
    mutating func forgetCurrent() {
        for name in properties.keys { properties[name]?.current = nil }
        properties = properties.filter { !$1.settled.isEmpty }
    }

    func contains(_ value: StorageValue, of property: String) -> Bool {
        guard let values = properties[property] else { return false }
        return values.current == value || values.settled.contains(value)
    }

    /// Whether another value of a property than this one was sent.
    func hasOther(than value: StorageValue, of property: String) -> Bool {
        guard let values = properties[property] else { return false }
        return values.current.map { $0 != value } ?? false || values.settled.contains { $0 != value }
    }

    /// Whether any value of a property was sent.
    func names(_ property: String) -> Bool { properties[property] != nil }
}
