import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// A request for a resource of a bucket, to be sent alone or in a batch.
struct KintoRequest: Sendable {
    /// The purpose of a request, which determines the valid responses.
    enum Purpose: Hashable, Sendable {
        /// A list of records, for a page or a look-up.
        case list
        /// A record by its path.
        case record
        /// A write of a record, with the requested ID of an insert.
        case write(RemoteRequest.Kind, id: ServerID?)
        /// Any other resource: the server, a bucket, a collection, a batch.
        case resource
    }

    var method: HTTPRequest.Method
    /// The path relative to the API, without the query.
    var path: String
    var query: [String] = []
    var fields: HTTPFields = [:]
    /// The body; `nil` for none.
    var body: JSONNode?
    var table: RemoteTableName
    var purpose: Purpose
}

extension KintoRequest {
    /// The path with the query.
    var target: String { query.isEmpty ? path : "\(path)?\(query.joined(separator: "&"))" }
}
