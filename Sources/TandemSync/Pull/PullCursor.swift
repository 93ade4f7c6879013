import Foundation
import Tandem

/// Where an incremental pull stands among a table's items in the order of `updatedAt`, then ID, and how much of that
/// order is known to be whole.
///
/// A page is asked from the time of the last item on, that time included, so that items which share an instant are not
/// torn apart; within the instant those that were read are skipped, all but the last, the *anchor*. If the page does not
/// begin with it, an item has left or joined the instant meanwhile. Then it is asked from a page before on, where one of
/// the last page's items tells how far the rest has moved; only if none of them is found there, the instant is read
/// again from its start. From then on half of each page overlaps the one before. An item that changes while pages are
/// read gets a later time and comes at the end.
///
/// A server may commit late: an item may appear with a time up to the *overlap* before the server's clock. The *floor*
/// is the time up to which that can't happen any more, taken from the clock of the very page that was read; what is
/// later is read again by the next pull. A floor taken from the last item's time alone would lose what is committed
/// late while a long pull is under way.
///
/// The floor is *settled* when its whole instant is read, and the clock was past that instant's end: nothing can come
/// there any more. The next pull then begins behind it, and not with it: where nothing is new it gets an empty page,
/// however many items share the last instant.
struct PullCursor {
    /// What to do with a page.
    enum Step {
        /// The items are to be stored.
        case take(ArraySlice<RemoteItem>)
        /// Nothing on it can be relied on: some of the instant is read again.
        case again
        /// The server sends the same page again and again.
        case stuck
    }

    private let pageSize: Int
    private let overlap: TimeInterval
    /// The time from which the next page is asked; `nil` for the first of all.
    private var place: WireTimestamp?
    private(set) var skip = 0
    /// Those of the last page's items that are in the instant of the place. The last one is the anchor.
    private var read: ArraySlice<RemoteItem> = []
    /// How many of them the next page is to begin with.
    private var margin = 1
    /// Whether items have left or joined the instant.
    private var isUnsteady = false
    private var hasGoneBack = false
    /// How many pages of the instant in a row had nothing new.
    private var idle = 0
    private var restarts = 0
    /// The server's clock when it answered first.
    private var began: Date?

    /// The time up to which all is read and nothing can come any more: a row's own time.
    private(set) var floor: WireTimestamp?
    /// Whether everything read lies up to the floor.
    private var isAllUnderFloor = true
    /// Whether all items of the floor's instant are read.
    private var isWhole: Bool
    /// Whether the clock was past the end of that instant whenever some of them were; `nil` if none was yet.
    private var isPast: Bool?

    /// Whether no page was taken yet, and the first one is asked from behind the floor.
    private var isBehindFloor: Bool

    /// Whether the next pull may begin behind the floor.
    var isSettled: Bool { isWhole && isPast == true }

    /// - Parameter isSettled: Whether the floor was settled when the last pull ended.
    init(from floor: WireTimestamp?, isSettled: Bool, pageSize: Int, overlap: Duration) {
        self.floor = floor
        let next = isSettled ? floor?.next : nil
        (place, isBehindFloor) = (next ?? floor, next != nil)
        (isWhole, isPast) = (isSettled, isSettled ? true : nil)
        self.pageSize = max(pageSize, 1)
        self.overlap = max(0, overlap.seconds)
    }

    var order: PageRequest.Order { .updatedAt(from: place) }

    /// More than the page's size where some that were read come along, so that a page of one item gets on too.
    var top: Int { pageSize + (read.isEmpty ? 0 : margin) }

    /// Goes on past a page.
    ///
    /// - Parameter now: The local time: where the server does not tell its own, a time past it is not taken for one that
    ///   the server's clock has reached.
    mutating func advance(past page: RemotePage, now: Date) -> Step {
        if began == nil { began = page.serverDate }
        var fresh = page.items[...]
        // One that was edited is no anchor: what is skipped has moved with it.
        if let first = page.items.first, first.id == read.last?.id, skip == 0 || first.updatedAt == place {
            // What came before and is as it was is not stored again.
            if first == read.last { fresh = fresh.dropFirst() }
        } else if skip > 0 {
            guard let unread = unread(of: page.items) else { return goBack() }
            fresh = unread
        }
        hasGoneBack = false
        guard let last = page.items.last, let time = last.updatedAt else {
            raiseFloor(page, clock: .distantPast)
            return .take([])
        }
        if let place, time < place { return goBackToFloor() ? .again : .stuck }
        isBehindFloor = false
        raiseFloor(page, clock: page.serverDate ?? min(time.date, now))
        if place.map({ $0 < time }) ?? true {
            place = time
            read = page.items.suffix(page.items.reversed().prefix { $0.updatedAt == time }.count)
            skip = read.count - 1
            (margin, isUnsteady, idle, restarts) = (1, false, 0, 0)
            return .take(fresh)
        }
        if fresh.isEmpty, page.hasMore {
            idle += 1
            guard isUnsteady, idle < 4 else { return .stuck }
            margin = 1
        } else {
            idle = 0
            margin = isUnsteady ? (page.items.count + 1) / 2 : 1
        }
        read = page.items[...]
        skip += read.count - margin
        return .take(fresh)
    }

    /// Begins with the floor after all: the server took what lies behind it for the same time, as one does whose
    /// filter is coarser than what it writes.
    ///
    /// - Returns: `false` if that is not how it began.
    mutating func goBackToFloor() -> Bool {
        guard isBehindFloor else { return false }
        (place, isBehindFloor, isWhole, isPast) = (floor, false, false, nil)
        return true
    }

    /// Whether a pull ends with a page.
    ///
    /// Where a page does not say whether it is the last one, a short one may be cut short by the host. Then the end is
    /// where what was changed since the first page begins: others may go on writing for ever.
    ///
    /// - Parameter top: How many items were asked for.
    func ends(with page: RemotePage, top: Int) -> Bool {
        guard page.hasMore else { return true }
        guard page.items.count < top, let began, let time = page.items.last?.updatedAt else { return false }
        // The server's clock is told without the parts of a second.
        return time.date >= began + 1
    }

    /// What was not read of a page of the instant that does not begin with the anchor; `nil` if nothing on it was.
    private mutating func unread(of items: [RemoteItem]) -> ArraySlice<RemoteItem>? {
        let known = Dictionary(read.lazy.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        guard items.contains(where: { known[$0.id] != nil && $0.updatedAt == place }) else { return nil }
        isUnsteady = true
        return items.filter { known[$0.id] != $0 }[...]
    }

    private mutating func goBack() -> Step {
        isUnsteady = true
        if !hasGoneBack, skip > read.count {
            hasGoneBack = true
            skip -= read.count
            return .again
        }
        hasGoneBack = false
        skip = 0
        read = []
        restarts += 1
        return restarts > 4 ? .stuck : .again
    }

    /// The items are in the order of their times, and those before them were read by earlier pages: the floor may rise
    /// for as long as all of them lie under it.
    private mutating func raiseFloor(_ page: RemotePage, clock: Date) {
        let limit = clock - overlap
        var isMet = false
        for item in page.items {
            guard isAllUnderFloor, let time = item.updatedAt, time.date <= limit else {
                isAllUnderFloor = false
                break
            }
            if floor.map({ $0 < time }) ?? true { (floor, isWhole, isPast) = (time, false, nil) }
            isMet = true
        }
        // By the clock of each page that has some of the instant: what came between two of them was not read.
        if isMet, isPast != false { isPast = floor?.next.map { $0.date <= limit } ?? false }
        // After an item that is later than the floor nothing of the floor's instant follows.
        if !page.hasMore || !isAllUnderFloor { isWhole = true }
    }
}
