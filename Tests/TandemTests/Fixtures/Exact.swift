import BigInt
import Foundation
import Tandem

/// Returns a text that identifies a value to the last bit, even if `==` can't distinguish two values.
func exact(_ value: Any) -> String {
    switch value {
    case let value as Double: return "Double(\(String(value.bitPattern, radix: 16)))"
    case let value as Float: return "Float(\(String(value.bitPattern, radix: 16)))"
    case let value as String:
        return "\"" + value.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ") + "\""
    case let value as Date: return "Date(\(String(value.timeIntervalSinceReferenceDate.bitPattern, radix: 16)))"
    case let value as Data: return "Data(\([UInt8](value)))"
    case let value as URL: return "URL(\(value.relativeString), \(value.baseURL.map { exact($0) } ?? "-"))"
    case let value as Decimal: return "Decimal(\(value))"
    case let value as BigInt: return "BigInt(\(value))"
    case let value as BigUInt: return "BigUInt(\(value))"
    case let value as UUID: return "UUID(\(value))"
    default: break
    }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional: return mirror.children.first.map { "some " + exact($0.value) } ?? "nil"
    case .collection: return "[" + mirror.children.map { exact($0.value) }.joined(separator: ", ") + "]"
    case .set, .dictionary: return "{" + mirror.children.map { exact($0.value) }.sorted().joined(separator: ", ") + "}"
    case .struct, .tuple:
        return "\(type(of: value))("
            + mirror.children.filter { $0.label != "__state" }.map { ($0.label ?? "") + ": " + exact($0.value) }
            .joined(separator: ", ") + ")"
    default: return "\(type(of: value)).\(value)"
    }
}

/// Returns the properties in which two values differ to the last bit, each with both values.
func differences(_ first: EveryType?, _ second: EveryType) -> [String] {
    guard let first else { return ["nothing is stored"] }
    return zip(Mirror(reflecting: first).children, Mirror(reflecting: second).children).compactMap { a, b in
        guard a.label != "__state", exact(a.value) != exact(b.value) else { return nil }
        return "\(a.label ?? ""): \(exact(a.value)) / \(exact(b.value))"
    }
}
