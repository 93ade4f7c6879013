/// A part of a subscription: a list, a count, or an aggregate. A subscription to several queries has several parts.
///
/// The thread that runs the subscription updates its parts, one thread at a time. Only ``watch(in:)`` is called from
/// other threads.
protocol LivePart: AnyObject {
    /// Returns the way in which the writer translates changes for this part.
    func watch(in schema: Schema) throws -> PartWatch

    /// Reloads the part.
    func load(_ snapshot: LiveSnapshot) throws

    /// Applies the changes of a commit.
    ///
    /// - Parameter isQuiet: Whether ``applySilently(wasDirty:)`` follows.
    /// - Returns: `false` if that is not possible. The part must then reload.
    func apply(_ changes: [PartChange], isQuiet: Bool) throws -> Bool

    /// Whether there are undelivered changes.
    var isDirty: Bool { get }

    /// Applies the current changes without a delivery, because the subscriber made them itself. If they can't be
    /// separated from pending changes, the next delivery starts again.
    ///
    /// - Parameter wasDirty: Whether other changes were pending before.
    func applySilently(wasDirty: Bool)

    /// Discards the last delivered state. The next delivery is then initial, even if nothing has changed.
    func resetBaseline()
}
