import HTTPTypes

/// A request that can't be served, with a sentence for the user.
struct WebFailure: Error {
    let status: HTTPResponse.Status
    let message: String
    /// The messages by the fields of a form.
    var fields: [String: String] = [:]

    init(_ status: HTTPResponse.Status, _ message: String, fields: [String: String] = [:]) {
        self.status = status
        self.message = message
        self.fields = fields
    }

    static let missingCard = WebFailure(.notFound, "This card does not exist, or was deleted.")
}
