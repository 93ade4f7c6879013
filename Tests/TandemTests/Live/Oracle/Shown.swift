import Foundation

@testable import Tandem

/// The output of a subscription in a form that can be compared bit by bit. The `==` of a model may be false for NaN.
indirect enum Shown: Equatable, Sendable {
    case rows([Picture])
    case ids([LocalID])
    case sections([Section])
    case value(String)
    case parts([Shown])
    /// The error of a value that can't be computed, such as a sum that overflows.
    case failure(String)

    struct Section: Equatable, Sendable {
        var key: String
        var rows: [Picture]
    }

    var rows: [Picture]? {
        switch self {
        case .rows(let rows): rows
        case .sections(let sections): sections.flatMap(\.rows)
        case .ids(let ids): ids.map { Picture(id: $0, values: []) }
        default: nil
        }
    }

    var failureCode: String? {
        switch self {
        case .failure(let code): code
        case .parts(let parts): parts.lazy.compactMap(\.failureCode).first
        default: nil
        }
    }

    /// Returns a value as text, including NaN and dates. -0 becomes 0, because both are the same least value.
    static func scalar(_ value: Any) -> Shown {
        func text(_ value: Any) -> String {
            switch value {
            case let date as Date: "Date(\(text(date.timeIntervalSinceReferenceDate)))"
            case let number as Double: number.isNaN ? "nan" : number == 0 ? "0" : "\(number)"
            case let number as Float: number.isNaN ? "nan" : number == 0 ? "0" : "\(number)"
            case let date as Date?: date.map { text($0) } ?? "nil"
            default: "\(value)"
            }
        }
        return .value(text(value))
    }
}

extension Shown: CustomStringConvertible {
    var description: String {
        switch self {
        case .rows(let rows): "\(rows.map(\.id.rawValue))"
        case .ids(let ids): "\(ids.map(\.rawValue))"
        case .sections(let sections):
            sections.map { "\($0.key): \($0.rows.map(\.id.rawValue))" }.joined(separator: "; ")
        case .value(let text): text
        case .parts(let parts): "(" + parts.map(\.description).joined(separator: ", ") + ")"
        case .failure(let code): "error \(code)"
        }
    }
}

/// An object's observed stored values.
struct Picture: Equatable, Sendable {
    let id: LocalID
    var values: [StorageValue]

    init(id: LocalID, values: [StorageValue]) {
        self.id = id
        self.values = values
    }

    init<M: Model>(_ object: M, _ mask: ColumnMask) {
        let state = object.__state
        id = state.localID
        let row = RowEncoder()
        object.__append(to: row)
        func date(_ date: Date?) -> StorageValue { date.map { .real($0.timeIntervalSinceReferenceDate) } ?? .null }
        values = [
            .null, .text(id.rawValue), state.serverID.map { .text($0.rawValue) } ?? .null,
            state.isSynced ? 1 : 0, state.isDeleted ? 1 : 0, state.version.map { .text($0) } ?? .null,
            date(state.createdAt), date(state.updatedAt),
        ]
        for index in row.slots.indices { values.append(row.value(at: index)) }
        for index in values.indices where mask & (1 << UInt64(min(63, index))) == 0 { values[index] = .null }
    }

    /// Returns the columns in which two pictures differ, for messages.
    func differences(_ other: Picture) -> String {
        zip(values, other.values).enumerated().filter { $1.0 != $1.1 }.map { "\($0): \($1.0) / \($1.1)" }
            .joined(separator: ", ")
    }
}
