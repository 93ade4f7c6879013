import BigInt
import Foundation
import Synchronization

/// A live aggregate.
///
/// Sums and averages of integers and decimals are exact, so a removed value can be subtracted. Sums and averages of
/// `Double` and `Float` depend on the order of the additions, and are reloaded. If the least or greatest value is
/// removed, it is reloaded too.
final class AggregatePart<Value: Sendable>: LivePart {
    private let query: QueryDescription
    private let node: AggregateNode
    private let read: (RowDecoder) throws -> Value
    private var running = RunningAggregate.unknown
    /// The columns that the aggregate selects.
    private var stored: [StorageValue] = []
    private var delivered: [StorageValue]?
    private var deliveredValue: Value?
    /// The result of the last comparison: whether the value is new to the subscriber.
    private var compared: (stored: [StorageValue], isNew: Bool)?

    /// - Parameter read: Reads the value from the columns that the node selects, from column 0 on.
    init(_ query: QueryDescription, node: AggregateNode, read: @escaping (RowDecoder) throws -> Value) {
        self.query = query.nestedIfCut
        self.node = node
        self.read = read
    }

    func watch(in schema: Schema) throws -> PartWatch {
        guard let table = schema.table(named: query.model.table) else { throw Schema.unknown(query.model.name) }
        var slots = ColumnSlots()
        let column = node.column
        guard RowPredicate(query, slots: &slots) != nil, column?.steps.isEmpty ?? true else {
            var tables = query.tables
            for step in column?.steps ?? [] { tables.formUnion([step.table, step.target]) }
            return .requery(tables.compactMap { schema.table(named: $0) })
        }
        return .rows(of: table, query: query) { asked, _ in
            guard let column else { return CountWatcher() }
            return ValueWatcher(slot: asked.slot(of: column.name))
        }
    }

    func load(_ snapshot: LiveSnapshot) throws {
        var compiler = SQLCompiler()
        let sql = compiler.select(query, ordered: false) { $0.aggregate(node, in: $1) }
        let statement = try snapshot.connection.uncachedStatement(sql.text)
        defer { statement.finalize() }
        statement.bind(sql.values)
        guard try statement.step() else { return }
        stored = (0..<node.width).map { statement.value($0) }
        running = RunningAggregate(node, stored: stored)
    }

    func apply(_ changes: [PartChange], isQuiet: Bool) -> Bool {
        var counted = 0
        var hasNewValues = false
        for change in changes {
            switch change {
            case .count(let change): counted += change
            case .value(let old, let new):
                guard running.replace(old, with: new) else { return false }
                hasNewValues = true
            case .row: break
            }
        }
        if hasNewValues { stored = running.columnValues(width: Int(node.width)) }
        if counted != 0 {
            guard case .integer(let count)? = stored.first else { return false }
            stored = [.integer(count + Int64(counted))]
        }
        return true
    }

    var isDirty: Bool {
        guard delivered != stored else { return false }
        guard delivered != nil else { return true }
        // A changed count is a new value, and so is a text that is equal only by Swift's `==`.
        if case .count = node { return true }
        if case .text? = stored.first { return true }
        // The stored columns can change without the value: a sum and a count with the same average, or 0 and -0.
        if let compared, compared.stored == stored { return compared.isNew }
        let value = try? value(of: stored)
        let isNew = !Self.isSame(value as Any, as: deliveredValue as Any)
        compared = (stored, isNew)
        return isNew
    }

    private static func isSame(_ old: Any, as new: Any) -> Bool {
        func isEqual<T: Equatable>(_ old: T, to new: Any) -> Bool {
            guard let new = new as? T else { return false }
            // A NaN that stays NaN is unchanged.
            return old == new || (old != old && new != new)
        }
        guard let old = old as? any Equatable else { return false }
        return isEqual(old, to: new)
    }

    func applySilently(wasDirty: Bool) {
        guard delivered != nil else { return }
        if wasDirty { return resetBaseline() }
        delivered = stored
        compared = nil
        deliveredValue = try? value(of: stored)
    }

    func resetBaseline() {
        delivered = nil
        compared = nil
    }

    func consumeValue() throws -> Value {
        delivered = stored
        compared = nil
        let value = try value(of: stored)
        deliveredValue = value
        return value
    }

    private func value(of stored: [StorageValue]) throws -> Value { try BoundRow.reading(stored, read: read) }
}

/// An aggregate that is updated as values are added and removed.
enum RunningAggregate {
    case integers(BigInt, count: Int64, isBig: Bool)
    case decimals(DecimalTotal, count: Int64)
    /// The least or greatest value, if there is one.
    case extreme(StorageValue, isMinimum: Bool)
    /// The aggregate can't be updated.
    case unknown

    /// - Parameter stored: The values of the aggregate's columns.
    init(_ node: AggregateNode, stored: [StorageValue]) {
        self = .unknown
        switch node {
        case .count: break
        case .minimum: self = .extreme(stored[0], isMinimum: true)
        case .maximum: self = .extreme(stored[0], isMinimum: false)
        case .sum(_, let kind), .average(_, let kind):
            var count: Int64 = 0
            if case .average = node, case .integer(let value) = stored[1] { count = value }
            guard case .blob(let bytes) = stored[0] else { return }
            bytes.withUnsafeBytes { bytes in
                switch kind {
                case .integer, .bigInt:
                    if let sum = try? OrderedBigInt.decode(bytes) {
                        self = .integers(sum, count: count, isBig: kind == .bigInt)
                    }
                case .decimal:
                    guard let sum = try? OrderedDecimal.decode(bytes), !sum.isNaN else { return }
                    var total = DecimalTotal()
                    total.add(sum)
                    self = .decimals(total, count: count)
                case .real: break
                }
            }
        }
    }

    /// Removes a value and adds another.
    ///
    /// - Returns: `false` if the new aggregate is unknown.
    mutating func replace(_ old: StorageValue?, with new: StorageValue?) -> Bool {
        let old = old.flatMap { $0 == .null ? nil : $0 }
        let new = new.flatMap { $0 == .null ? nil : $0 }
        let change: Int64 = (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
        switch self {
        case .integers(var sum, let count, let isBig):
            for (value, sign) in [(old, -1), (new, 1)] {
                guard let value else { continue }
                guard let number = Self.integer(value, isBig: isBig) else { return false }
                if sign < 0 { sum -= number } else { sum += number }
            }
            self = .integers(sum, count: count + change, isBig: isBig)
            return true
        case .decimals(var sum, let count):
            for (value, sign) in [(old, -1), (new, 1)] {
                guard let value else { continue }
                guard case .blob(let bytes) = value, let number = try? bytes.withUnsafeBytes(OrderedDecimal.decode),
                    !number.isNaN
                else { return false }
                if sign < 0 { sum.subtract(number) } else { sum.add(number) }
            }
            self = .decimals(sum, count: count + change)
            return true
        case .extreme(let extreme, let isMinimum):
            if let new, extreme == .null || Self.isBetter(new, than: extreme, isMinimum: isMinimum) {
                self = .extreme(new, isMinimum: isMinimum)
                return true
            }
            // If another row may have the same extreme value, keep it. If the removed value was the extreme, it may
            // have been the last row with it.
            return old.map { !($0 == extreme || !Self.isBetter(extreme, than: $0, isMinimum: isMinimum)) } ?? true
        case .unknown: return false
        }
    }

    private static func integer(_ value: StorageValue, isBig: Bool) -> BigInt? {
        switch value {
        case .integer(let value): return BigInt(value)
        case .blob(let bytes) where isBig: return try? bytes.withUnsafeBytes(OrderedBigInt.decode)
        // A UInt64 greater than Int64.max.
        case .blob(let bytes) where bytes.count == 8: return BigInt(bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        default: return nil
        }
    }

    /// Returns whether a value is less (for a minimum) or greater (for a maximum) than another.
    private static func isBetter(_ value: StorageValue, than other: StorageValue, isMinimum: Bool) -> Bool {
        let order = BoundValue(other).order(of: BoundValue(value))
        return isMinimum ? order < 0 : order > 0
    }

    /// Returns the values of the aggregate's columns.
    func columnValues(width: Int) -> [StorageValue] {
        switch self {
        case .integers(let sum, let count, _):
            return Array([Codec.of(BigInt.self).storageValue(sum), .integer(count)].prefix(width))
        case .decimals(let sum, let count): return Array([sum.storageValue, .integer(count)].prefix(width))
        case .extreme(let value, _): return [value]
        case .unknown: return []
        }
    }
}
