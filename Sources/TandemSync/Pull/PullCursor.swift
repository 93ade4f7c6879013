import Foundation
import Tandem

/// The position of an incremental pull among a table's items, in the order of `updatedAt`. It also tracks the part of
/// that order that is known to be complete.
///
/// A request begins at the time of the last item, inclusive, so that items with the same time stay together. Within
/// that time, it skips the items that were read except the last one, the *anchor*. If the page does not begin with the
/// anchor, an item has left or joined that time. The next request then begins one page earlier. There an item of the
/// last page shows how far the rest has moved. If none of these items is found there, the time is read again from its
/// start. From then on, half of each page overlaps the previous one. An item that changes during the pull gets a later
/// time and comes at the end.
///
/// A server may commit late: an item may appear with a time up to the *overlap* before the server's clock. The *floor*
/// is the time up to which that can no longer happen. It is computed from the clock of each page that was read. The
/// next pull reads later items again. A floor from the last item's time alone would lose items that are committed late
/// during a long pull.
///
/// The floor is *settled* if all items of its time are read. The clock must also have been past the end of that time.
/// No item can then appear there. The next pull begins after the floor. Without changes it gets an empty page, however
/// many items share the last time.
struct PullCursor {
    /// The next step for a page.
    enum Step {
        /// Store the items.
        case store(ArraySlice<RemoteItem>)
        /// The page is not reliable: read a part of the time again.
        case again
        /// The server sends the same page repeatedly.
        case stuck
    }

    private let pageSize: Int
    private let overlap: TimeInterval
    /// The time at which the next request begins; `nil` for the first one.
    private var position: WireTimestamp?
    private(set) var skip = 0
    /// The items of the last page that have the time of `position`. The last one is the anchor.
    private var read: ArraySlice<RemoteItem> = []
    /// The number of these items with which the next page should begin.
    private var margin = 1
    /// Whether items have left or joined this time.
    private var isUnsteady = false
    private var hasGoneBack = false
    /// The number of consecutive pages of this time without new items.
    private var idle = 0
    private var restarts = 0
    /// The server's clock at its first response.
    private var began: Date?

    /// The time up to which everything is read and no item can appear. It is the time of a row.
    private(set) var floor: WireTimestamp?
    /// Whether all items read so far have times up to the floor.
    private var isAllUnderFloor = true
    /// Whether all items of the floor's time are read.
    private var isWhole: Bool
    /// Whether the clock was past the end of that time on each page with some of these items; `nil` before the first
    /// such page.
    private var isPast: Bool?

    /// Whether the first request begins after the floor and no page was accepted yet.
    private var isBehindFloor: Bool

    /// Whether the next pull may begin after the floor.
    var isSettled: Bool { isWhole && isPast == true }

    /// - Parameter isSettled: Whether the floor was settled when the last pull ended.
    init(from floor: WireTimestamp?, isSettled: Bool, pageSize: Int, overlap: Duration) {
        self.floor = floor
        let next = isSettled ? floor?.next : nil
        (position, isBehindFloor) = (next ?? floor, next != nil)
        (isWhole, isPast) = (isSettled, isSettled ? true : nil)
        self.pageSize = max(pageSize, 1)
        self.overlap = max(0, overlap.seconds)
    }

    var order: PageRequest.Order { .updatedAt(from: position) }

    /// The number of items to request. It exceeds the page size by the overlap, so that a page size of 1 also makes
    /// progress.
    var top: Int { pageSize + (read.isEmpty ? 0 : margin) }

    /// Advances past a page.
    ///
    /// - Parameter now: The local time. If the server does not send its time, the cursor assumes that its clock has not
    ///   passed the local time.
    mutating func advance(past page: RemotePage, now: Date) -> Step {
        if began == nil { began = page.serverDate }
        var fresh = page.items[...]
        // An edited item is not a valid anchor: the skipped items have moved with it.
        if let first = page.items.first, first.id == read.last?.id, skip == 0 || first.updatedAt == position {
            // An unchanged item that was already read is not stored again.
            if first == read.last { fresh = fresh.dropFirst() }
        } else if skip > 0 {
            guard let unread = unread(of: page.items) else { return goBack() }
            fresh = unread
        }
        hasGoneBack = false
        guard let last = page.items.last, let time = last.updatedAt else {
            raiseFloor(page, clock: .distantPast)
            return .store([])
        }
        if let position, time < position { return goBackToFloor() ? .again : .stuck }
        isBehindFloor = false
        raiseFloor(page, clock: page.serverDate ?? min(time.date, now))
        if position.map({ $0 < time }) ?? true {
            position = time
            read = page.items.suffix(page.items.reversed().prefix { $0.updatedAt == time }.count)
            skip = read.count - 1
            (margin, isUnsteady, idle, restarts) = (1, false, 0, 0)
            return .store(fresh)
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
        return .store(fresh)
    }

    /// Restarts at the floor, inclusive. A server whose filter is coarser than its stored times treats later items as
    /// equal.
    ///
    /// - Returns: `false` if the pull did not begin after the floor.
    mutating func goBackToFloor() -> Bool {
        guard isBehindFloor else { return false }
        (position, isBehindFloor, isWhole, isPast) = (floor, false, false, nil)
        return true
    }

    /// Returns whether a pull ends with a page.
    ///
    /// If a page does not say whether it is the last one, the host may have truncated a short page. The pull then ends
    /// at the first item that was changed after the first page. Otherwise other writers could keep it running without
    /// end.
    ///
    /// - Parameter top: The number of requested items.
    func ends(with page: RemotePage, top: Int) -> Bool {
        guard page.hasMore else { return true }
        guard page.items.count < top, let began, let time = page.items.last?.updatedAt else { return false }
        // The server's clock has one-second resolution.
        return time.date >= began + 1
    }

    /// Returns the unread items of a page that does not begin with the anchor; `nil` if the page has no item that was
    /// read.
    private mutating func unread(of items: [RemoteItem]) -> ArraySlice<RemoteItem>? {
        let known = Dictionary(read.lazy.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        guard items.contains(where: { known[$0.id] != nil && $0.updatedAt == position }) else { return nil }
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

    /// Raises the floor. The items are in the order of their times, and earlier pages read all items before them. The
    /// floor may rise while all items lie under it.
    private mutating func raiseFloor(_ page: RemotePage, clock: Date) {
        let limit = clock - overlap
        var isRead = false
        for item in page.items {
            guard isAllUnderFloor, let time = item.updatedAt, time.date <= limit else {
                isAllUnderFloor = false
                break
            }
            if floor.map({ $0 < time }) ?? true { (floor, isWhole, isPast) = (time, false, nil) }
            isRead = true
        }
        // Checks the clock of each page with items of this time: items that appeared between two pages were not read.
        if isRead, isPast != false { isPast = floor?.next.map { $0.date <= limit } ?? false }
        // After an item later than the floor, no item of the floor's time follows.
        if !page.hasMore || !isAllUnderFloor { isWhole = true }
    }
}
