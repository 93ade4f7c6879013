import Tandem

/// The position of a full pull among a table's items, in the order of their IDs.
///
/// A request continues after the last ID, not at an offset. With an offset, a deletion in between would skip another
/// item, and the pull would then remove that item here.
struct IDCursor {
    private(set) var last: ServerID?
    /// An earlier position, updated at each power of two pages. It detects a server that repeats its pages in a cycle.
    private var mark: ServerID?
    private var pages = 0

    /// - Parameter last: The last item of an interrupted pull; `nil` to begin with the first item.
    init(after last: ServerID? = nil) { self.last = last }

    /// Advances past a page.
    ///
    /// - Returns: `false` if the server repeats its pages in a cycle.
    mutating func advance(past page: RemotePage) -> Bool {
        guard let id = page.items.last?.id else { return true }
        if id == last || id == mark { return false }
        pages += 1
        if pages & (pages - 1) == 0 { mark = id }
        last = id
        return true
    }
}
