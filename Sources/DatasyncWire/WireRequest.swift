import HTTPTypes
import Tandem
import TandemSync

/// A request as it is sent: its head, its body, and what the answer will be held against.
public struct WireRequest: Sendable {
    /// What was asked, and so which answers make sense.
    public enum Action: Hashable, Sendable {
        /// The items of an order, so many at most.
        case page(PageRequest.Order, top: Int)
        /// One item, or none.
        case find(RemoteKey)
        /// With the ID that the item shall get.
        case insert(ServerID?)
        /// Of the item with this ID.
        case update(ServerID)
        /// Of the item with this ID.
        case delete(ServerID)
        /// Of the item with this ID.
        case undelete(ServerID)
    }

    /// The method, the address and the fields. Credentials and `Content-Length` come later.
    public var head: HTTPRequest
    /// JSON, or nothing.
    public var body: [UInt8]
    /// The table asked.
    public let table: RemoteTableName
    /// What was asked.
    public let action: Action
    /// The address without the query: what errors may show.
    public let url: String
}
