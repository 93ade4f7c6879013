import Foundation
import HTTPTypes

/// A request that can't be served, with a sentence for the user.
public struct WebFailure: Error {
    /// The status of the response.
    public let status: HTTPResponse.Status
    /// The problem and its remedy, in a sentence or two.
    public let message: String
    /// The messages by the fields of a form.
    public let fields: [String: String]

    /// Creates a failure.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - message: The problem and its remedy.
    ///   - fields: The messages by the fields of a form.
    public init(_ status: HTTPResponse.Status, message: String, fields: [String: String] = [:]) {
        self.status = status
        self.message = message
        self.fields = fields
    }
}

extension WebFailure: LocalizedError {
    /// The problem and its remedy.
    public var errorDescription: String? { message }
}
