import BigInt
import Foundation
import Tandem

/// A search for a text in all properties of a model, and in its IDs.
enum TextSearch {
    /// Returns the condition that holds for objects that contain a text, or have it as a number.
    static func condition(_ text: String, in model: ModelDefinition) -> DynamicPredicate {
        let number = Int64(text).map { DynamicValue.integer($0) } ?? BigInt(text).map { DynamicValue.bigInt($0) }
        let ids: [DynamicPredicate] = ["localID", "serverID"].map {
            .text(DynamicPath([$0]), test: .contains, operand: text, case: .exact)
        }
        return .any(ids + model.properties.compactMap { condition(text, number: number, on: $0) })
    }

    private static func condition(
        _ text: String, number: DynamicValue?, on property: PropertyDefinition
    ) -> DynamicPredicate? {
        let path = DynamicPath([property.name])
        switch property.kind {
        case .string:
            return property.folding == .searched
                ? .matches(path, words: text) : .text(path, test: .contains, operand: text, case: .exact)
        case .integer, .unsigned64, .bigInt, .bigUInt:
            // A number beyond the range of its kind would be an error.
            return number.flatMap {
                property.storageValue(of: $0) == nil ? nil : .compare(path, by: .equal, to: $0)
            }
        // Not every integer is a floating-point number, and the store rejects the others.
        case .double, .float:
            return Double(text).flatMap { $0.isFinite ? .compare(path, by: .equal, to: .double($0)) : nil }
        // A decimal number has 38 digits.
        case .decimal:
            return text.utf8.count <= 38
                ? EditText.decimal(text).map { .compare(path, by: .equal, to: .decimal($0)) } : nil
        case .uuid: return UUID(uuidString: text).map { .compare(path, by: .equal, to: .uuid($0)) }
        case .reference: return .compare(path, by: .equal, to: .string(text))
        case .references: return .contains(path, value: .string(text))
        case .bool, .data, .date, .url, .collection, .json, .attachment: return nil
        }
    }
}
