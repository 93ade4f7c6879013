import HTTPTypes
import Tandem
import TandemSync

/// A request as it is sent: its head, its body, and what the answer will be held against.
public struct WireRequest: Sendable {
    /// What was asked, and so which answers make sense.
    public enum Action: Hashable, Sendable {
        case page(PageRequest.Order, top: Int)
        case find(RemoteKey)
        /// With the ID that the item shall get.
        case insert(ServerID?)
        case update(ServerID)
        case delete(ServerID)
        case undelete(ServerID)
    }

    public var head: HTTPRequest
    public var body: [UInt8]
    public let table: RemoteTableName
    public let action: Action
    /// The address without the query: what errors may show.
    public let url: String
}
