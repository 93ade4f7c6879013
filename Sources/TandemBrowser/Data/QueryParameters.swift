import Hummingbird
import HummingbirdCore
import PageServer

/// The parameters in the address of a request.
struct QueryParameters {
    private let values: FlatDictionary<Substring, Substring>

    init(_ request: Request) {
        values = request.uri.queryParameters
    }

    /// Returns a parameter; nil if it is missing or empty.
    subscript(_ name: String) -> String? {
        guard let value = values[name[...]], !value.isEmpty else { return nil }
        return String(value)
    }

    /// Returns a parameter that the request must have.
    func require(_ name: String) throws -> String {
        guard let value = self[name] else { throw WebFailure(.badRequest, message: "The request has no \(name).") }
        return value
    }

    /// Returns a number from 0; nil if it is missing.
    func number(_ name: String) throws -> Int? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text), 0..<Int(Int32.max) ~= number else {
            throw WebFailure(.badRequest, message: "The request's \(name) is not valid.")
        }
        return number
    }
}
