import Foundation
import Tandem

/// A column of a list of objects: a property, or a part of the state.
package enum ObjectColumn {
    /// A part of an object's state.
    package enum State: String, CaseIterable {
        case localID, serverID, isSynced, isDeleted, version, createdAt, updatedAt

        /// The parts that an export contains.
        static let exported: [State] = [.localID, .serverID, .version, .createdAt, .updatedAt]

        package func value(of object: DynamicObject) -> DynamicValue {
            switch self {
            case .localID: .string(object.localID.rawValue)
            case .serverID: object.serverID.map { .string($0.rawValue) } ?? .null
            case .isSynced: .bool(object.isSynced)
            case .isDeleted: .bool(object.isDeleted)
            case .version: object.version.map { .string($0) } ?? .null
            case .createdAt: object.createdAt.map { .date($0) } ?? .null
            case .updatedAt: object.updatedAt.map { .date($0) } ?? .null
            }
        }
    }

    case state(State)
    case property(PropertyDefinition)

    package var title: String {
        switch self {
        case .state(let state): state.rawValue
        case .property(let property): property.name
        }
    }

    /// Whether values are numbers, which are aligned to the right.
    var isNumber: Bool { if case .property(let property) = self { property.kind.isNumeric } else { false } }

    /// Returns the value of an object in the column.
    package func value(of object: DynamicObject) -> DynamicValue {
        switch self {
        case .state(let state): state.value(of: object)
        case .property(let property): object[property.name] ?? .null
        }
    }

    /// Returns the columns with some names, separated by commas.
    ///
    /// - Throws: `CommandFailure` with the names that exist.
    static func named(_ names: String, of model: ModelDefinition) throws -> [ObjectColumn] {
        try names.split(separator: ",").map { part in
            let name = part.trimmingCharacters(in: .whitespaces)
            if let property = model.properties.first(where: { $0.name == name }) { return .property(property) }
            if let state = State(rawValue: name) { return .state(state) }
            let known = model.properties.map(\.name) + State.allCases.map(\.rawValue)
            throw CommandFailure(
                .usage, message: "\(model.name) has no column \"\(name)\".",
                advice: "Its columns are: \(known.joined(separator: ", ")).")
        }
    }

    /// Returns columns of the state, and then all properties.
    package static func all(of model: ModelDefinition, states: [State]) -> [ObjectColumn] {
        states.map { .state($0) } + model.properties.map { .property($0) }
    }
}
