import Foundation
import Tandem

/// Where an incremental pull stands among a table's items in the order of `updatedAt`, then ID, and how much of that
/// order is known to be whole.
///
/// A page is asked from the time of the last item on, that time included, so that items which share an instant are not
/// torn apart; within the instant those that were read are skipped, all but the last, the *anchor*. If the page does not
/// begin with it, an item has left or joined the instant meanwhile, and the instant is read again from its start. An
/// item that changes while pages are read gets a later time and comes at the end.
///
/// A server may commit late: an item may appear with a time up to the *overlap* before the server's clock. The *floor*
/// is the time up to which that can't happen any more, taken from the clock of the very page that was read; what is
/// later is read again by the next pull. A floor taken from the last item's time alone would lose what is committed
/// late while a long pull is under way.
struct PullCursor {
    /// What to do with a page.
    enum Step {
        /// The items are to be stored.
        case take(ArraySlice<RemoteItem>)
        /// Nothing on it can be relied on: the instant is read again.
        case again
        /// The server sends the same page again and again.
        case stuck
    }

    private let pageSize: Int
    private let overlap: TimeInterval
    /// The time from which the next page is asked; `nil` for the first of all.
    private var place: WireTimestamp?
    private(set) var skip = 0
    /// The last item that was read.
    private var anchor: RemoteItem?
    private var restarts = 0

    /// The time up to which all is read and nothing can come any more: a row's own time.
    private(set) var floor: WireTimestamp?
    /// Whether everything read lies up to the floor.
    private(set) var isSettled = true

    init(from floor: WireTimestamp?, pageSize: Int, overlap: Duration) {
        self.floor = floor
        place = floor
        self.pageSize = max(pageSize, 1)
        let parts = overlap.components
        self.overlap = max(0, Double(parts.seconds) + Double(parts.attoseconds) / 1e18)
    }

    var order: PageRequest.Order { .updatedAt(from: place) }

    /// One more than the page's size where the anchor comes along, so that a page of one item gets on too.
    var top: Int { pageSize + (anchor == nil ? 0 : 1) }

    /// Goes on past a page.
    mutating func advance(past page: RemotePage) -> Step {
        if skip > 0, page.items.first?.id != anchor?.id {
            restarts += 1
            skip = 0
            anchor = nil
            return restarts > 4 ? .stuck : .again
        }
        guard let last = page.items.last, let time = last.updatedAt else { return .take([]) }
        if let place, time < place { return .stuck }
        raiseFloor(page.items, clock: page.serverDate ?? time.date)
        // What came before and is as it was is not stored again.
        let isKnown = page.items.first.map { $0 == anchor } ?? false
        let fresh = page.items.dropFirst(isKnown ? 1 : 0)
        if place.map({ $0 < time }) ?? true {
            place = time
            skip = page.items.reversed().prefix { $0.updatedAt == time }.count - 1
            restarts = 0
        } else if fresh.isEmpty, page.hasMore {
            return .stuck
        } else {
            skip += page.items.count - 1
        }
        anchor = last
        return .take(fresh)
    }

    /// The items are in the order of their times, and those before them were read by earlier pages: the floor may rise
    /// for as long as all of them lie under it.
    private mutating func raiseFloor(_ items: [RemoteItem], clock: Date) {
        let limit = clock - overlap
        for item in items where isSettled {
            guard let time = item.updatedAt, time.date <= limit else {
                isSettled = false
                return
            }
            if floor.map({ $0 < time }) ?? true { floor = time }
        }
    }
}
