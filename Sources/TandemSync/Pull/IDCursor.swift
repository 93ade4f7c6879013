import Tandem

/// Where a full pull stands among a table's items in the order of their IDs.
///
/// A page is asked after the last ID, not by a number of items to leave out: an item that goes meanwhile would make
/// another one be jumped over, which would then be swept away.
struct IDCursor {
    private(set) var last: ServerID?
    /// An earlier place, moved up at each power of two pages: a server that goes round in a circle comes by again.
    private var mark: ServerID?
    private var pages = 0

    /// - Parameter last: The last item of an interrupted pull; `nil` to begin with the first item.
    init(after last: ServerID? = nil) { self.last = last }

    /// Goes on past a page.
    ///
    /// - Returns: `false` if the server goes round in a circle.
    mutating func advance(past page: RemotePage) -> Bool {
        guard let id = page.items.last?.id else { return true }
        if id == last || id == mark { return false }
        pages += 1
        if pages & (pages - 1) == 0 { mark = id }
        last = id
        return true
    }
}
