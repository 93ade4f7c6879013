import Tandem

extension RemoteFilter {
    /// A query's predicate, as a server is asked it.
    ///
    /// For example:
    ///
    /// ```swift
    /// let filter = try RemoteFilter(Card.Columns().points > 100, format: remote.format)
    /// ```
    ///
    /// - Parameters:
    ///   - predicate: What is asked of each object.
    ///   - format: How the server's values look: times are compared at its precision.
    ///   - serverID: The server ID of an object of a model's table, by its local ID; `nil` if the server does not know
    ///     it. References are asked by it.
    /// - Throws: ``UnaskableFilter`` for the first part that no server can be asked: what lies behind a reference,
    ///   links, collections, `matches` and `like`, properties kept here only, and numbers that the wire has as strings.
    public init<M: Model>(
        _ predicate: some PredicateExpression<M>, format: WireFormat,
        serverID: @escaping (LocalID, _ table: String) throws -> ServerID? = { _, _ in nil }
    ) throws {
        let translation = FilterTranslation(format: format, serverID: serverID)
        self = try translation.filter(predicate.asPredicate.node)
    }
}
