import Foundation
import Tandem

/// A request for a page of items.
public struct PageRequest: Sendable {
    /// The order of the items, and the start position.
    public enum Order: Hashable, Sendable {
        /// By `updatedAt`: from a time, inclusive, or from the first item. Items with the same time may come in any
        /// order, if the order is the same in each response.
        case updatedAt(from: WireTimestamp?)
        /// By `id`, after one.
        case id(after: ServerID?)
    }

    /// The requested table.
    public var table: RemoteTableName
    /// The filter of the items; `nil` for all. A tombstone without values is on the page whatever the filter.
    public var filter: RemoteFilter?
    /// The order and start position of the items.
    public var order: Order
    /// The number of items to skip.
    public var skip: Int
    /// The maximum number of items, at least 1. The server may send fewer.
    public var top: Int
    /// Whether to include deleted items.
    public var includeDeleted: Bool
    /// Whether the server should count all items of the filter. If it can't, interrupted full pulls begin again.
    public var wantsCount: Bool
    /// Whether the page should have the table's generation: ``RemotePage/generation``. A pull asks for it with its
    /// first page only, because it may cost another request. A remote may send it with any page.
    public var wantsGeneration: Bool

    /// Creates a request for the first page of an order, or for the page after a position.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - filter: The condition on the items; `nil` for all.
    ///   - order: The order of the items, and the position from which they are requested.
    ///   - skip: The number of items to skip after the position.
    ///   - top: The maximum number of items.
    ///   - includeDeleted: Whether tombstones are included.
    ///   - wantsCount: Whether the response has the number of all items.
    ///   - wantsGeneration: Whether the response has the table's generation.
    public init(
        table: RemoteTableName, filter: RemoteFilter? = nil, order: Order, skip: Int = 0, top: Int = 100,
        includeDeleted: Bool = false, wantsCount: Bool = false, wantsGeneration: Bool = false
    ) {
        self.table = table
        self.filter = filter
        self.order = order
        self.skip = skip
        self.top = top
        self.includeDeleted = includeDeleted
        self.wantsCount = wantsCount
        self.wantsGeneration = wantsGeneration
    }
}

/// A page of a table's items, in the requested order.
///
/// A page does not contain an ID twice. In the order of `updatedAt`, every item has this time, and no item is before
/// the requested position. The times ascend. Items with the same time may come in any order.
public struct RemotePage: Sendable, Equatable {
    /// The items, including deleted ones if requested.
    public var items: [RemoteItem]
    /// Whether more items may follow.
    public var hasMore: Bool
    /// The number of all items of the filter, if it was requested and the server counts them. Deleted items count only
    /// if requested.
    public var count: Int?
    /// The number of all live items that this user sees, if the server hides tombstones from the user; `nil` if it does
    /// not. Only the number then shows that an item was deleted or is hidden now. An incremental pull without a filter
    /// compares it with the number of its objects, and fetches everything if they differ. A full pull that finds
    /// nothing is not repeated for the same numbers. The pull uses the last page that has a number, so its first page
    /// is enough. A page with a filter has the number of all items too: it says that a missing item may be hidden.
    public var visibleCount: Int?
    /// The server's clock.
    public var serverDate: Date?
    /// A value that differs after the table was removed and created again. Positions and tombstones of the former table
    /// are not valid then, and a full pull follows. `nil` if the server has no such value. A table with a generation
    /// keeps its tombstones, unless ``visibleCount`` is set. A missing item then shows that the server was restored.
    public var generation: String?
    /// The time for which the server asks clients to send no further requests of their own accord; `nil` without one.
    public var backoff: Duration?

    /// Creates a page. Set `hasMore` to `false` only if no item follows: a full pull then removes all objects that it
    /// did not see.
    ///
    /// - Parameters:
    ///   - items: The items, in the requested order.
    ///   - hasMore: Whether more items follow.
    ///   - count: The number of all items, if the server has counted them.
    ///   - visibleCount: The number of all live items that the user sees, if the server hides tombstones from the user.
    ///   - serverDate: The server's clock, if the response had it.
    ///   - generation: A value of this table's creation, if the server has one.
    ///   - backoff: The requested pause of clients, if any.
    public init(
        items: [RemoteItem], hasMore: Bool, count: Int? = nil, visibleCount: Int? = nil, serverDate: Date? = nil,
        generation: String? = nil, backoff: Duration? = nil
    ) {
        self.items = items
        self.hasMore = hasMore
        self.count = count
        self.visibleCount = visibleCount
        self.serverDate = serverDate
        self.generation = generation
        self.backoff = backoff
    }
}
