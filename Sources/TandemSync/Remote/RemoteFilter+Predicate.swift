import Tandem

extension RemoteFilter {
    /// Translates a query's predicate for a server.
    ///
    /// For example:
    ///
    /// ```swift
    /// let filter = try RemoteFilter(Card.Columns().points > 100, format: remote.format)
    /// ```
    ///
    /// - Parameters:
    ///   - predicate: The condition on each object.
    ///   - format: The server's wire format. Times are compared at its precision.
    ///   - serverID: Returns the server ID of an object of a table by its local ID; `nil` if the server does not know
    ///     the object. It translates references.
    /// - Throws: ``UnsupportedFilterError`` for the first part that can't be sent to a server. Such parts are
    ///   properties of referenced objects, links, collections, `matches` and `like`. Others are local-only properties,
    ///   and numbers that are strings on the wire.
    public init<M: Model>(
        _ predicate: some PredicateExpression<M>, format: WireFormat,
        serverID: @escaping (LocalID, _ table: String) throws -> ServerID? = { _, _ in nil }
    ) throws {
        let translation = FilterTranslation(format: format, serverID: serverID)
        self = try translation.filter(predicate.asPredicate.node)
    }
}
