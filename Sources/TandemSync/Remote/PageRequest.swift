import Foundation
import Tandem

/// Which items a page has.
public struct PageRequest: Sendable {
    /// In which order, and from which place.
    public enum Order: Hashable, Sendable {
        /// By `updatedAt`, then `id`: from a time on, that time included, or from the first.
        case updatedAt(from: WireTimestamp?)
        /// By `id`, after one.
        case id(after: ServerID?)
    }

    /// The table asked.
    public var table: RemoteTableName
    /// What is asked of the items, `nil` for all of them.
    public var filter: RemoteFilter?
    /// In which order the items come, and from where.
    public var order: Order
    /// How many items of that order to leave out.
    public var skip: Int
    /// How many items at most; the server may send fewer. At least 1.
    public var top: Int
    /// Whether deleted items come too.
    public var includeDeleted: Bool
    /// Whether the server shall count all items of the filter. If it can't, interrupted full pulls begin again.
    public var wantsCount: Bool

    /// The first page of an order, or the one after a place in it.
    public init(
        table: RemoteTableName, filter: RemoteFilter? = nil, order: Order, skip: Int = 0, top: Int = 100,
        includeDeleted: Bool = false, wantsCount: Bool = false
    ) {
        self.table = table
        self.filter = filter
        self.order = order
        self.skip = skip
        self.top = top
        self.includeDeleted = includeDeleted
        self.wantsCount = wantsCount
    }
}

/// Some items of a table, in the order asked for.
///
/// No ID occurs twice in one. In the order of `updatedAt` every item has one, none is before the place asked for, and
/// they ascend; items of one instant may come in any order.
public struct RemotePage: Sendable, Equatable {
    /// The items, deleted ones among them if they were asked for.
    public var items: [RemoteItem]
    /// Whether there may be more.
    public var hasMore: Bool
    /// How many items the filter has in all, if it was asked for and the server counts. Deleted items count only if they
    /// were asked for.
    public var count: Int?
    /// The server's clock.
    public var serverDate: Date?

    /// Some items. A page of which nothing is known to follow has `hasMore` false: a full pull takes what it then did not see
    /// for gone.
    public init(items: [RemoteItem], hasMore: Bool, count: Int? = nil, serverDate: Date? = nil) {
        self.items = items
        self.hasMore = hasMore
        self.count = count
        self.serverDate = serverDate
    }
}
