import Foundation
import HummingbirdTesting

/// The JSON of a response.
struct JSONResponse {
    private let value: Any?

    init(_ response: TestResponse) throws {
        value = try JSONSerialization.jsonObject(with: Data(buffer: response.body), options: .fragmentsAllowed)
    }

    private init(value: Any?) {
        self.value = value
    }

    subscript(_ name: String) -> JSONResponse { JSONResponse(value: (value as? [String: Any])?[name]) }
    subscript(_ index: Int) -> JSONResponse {
        let list = value as? [Any] ?? []
        return JSONResponse(value: list.indices.contains(index) ? list[index] : nil)
    }

    var text: String? { value as? String }
    var number: Int? { (value as? NSNumber)?.intValue }
    var flag: Bool? { (value as? NSNumber)?.boolValue }
    var isNull: Bool { value == nil || value is NSNull }
    var isMissing: Bool { value == nil }
    var list: [JSONResponse] { (value as? [Any] ?? []).map { JSONResponse(value: $0) } }

    /// Returns the element with a member of some text.
    func first(_ name: String, _ text: String) -> JSONResponse {
        list.first { $0[name].text == text } ?? JSONResponse(value: nil)
    }
}
