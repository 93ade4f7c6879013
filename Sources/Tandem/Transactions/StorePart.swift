/// A part of an open store that is declared in a higher room: its files, or its live queries.
///
/// The root creates the parts when it opens the store: see ``Store/part(_:)``. The methods without a result have an
/// empty default.
protocol StorePart: AnyObject, Sendable {
    /// Creates the part's participant in a write transaction that has just begun.
    func commitParticipant(on connection: Connection) -> any CommitParticipant

    /// Called when the store begins to close, while its connections are open.
    func storeWillClose()

    /// Called on the writer's queue, before the writer is closed.
    func writerWillClose(of store: Store)

    /// Whether the closing store does not write its log back, because others do it later.
    var leavesLogToOthers: Bool { get }

    /// Called after the connections have been closed.
    func storeDidClose()
}

extension StorePart {
    func storeWillClose() {}
    func writerWillClose(of store: Store) {}
    var leavesLogToOthers: Bool { false }
    func storeDidClose() {}
}

extension Store {
    /// Returns the part of a type.
    ///
    /// - Precondition: The store was opened with such a part.
    func part<Part: StorePart>(_ type: Part.Type) -> Part {
        // For few parts, a linear search is faster than hashing.
        for part in parts where Swift.type(of: part) == type { return unsafeDowncast(part, to: type) }
        preconditionFailure("The store was opened without its \(type).")
    }
}
