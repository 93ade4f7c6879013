/// One thing that a subscription watches: a list, a count, an aggregate. A subscription to several queries has several.
///
/// It is kept up to date by whoever runs its subscription, one thread at a time; ``watch(in:)`` alone is asked by
/// others.
protocol LivePart: AnyObject {
    /// What the engine was set to.
    var tuning: LiveTuning { get set }

    /// How the writer translates changes for it.
    func watch(in schema: Schema) throws -> PartWatch

    /// Reads it afresh, in a state that stands until this returns.
    func load(_ connection: Connection) throws

    /// Brings it forward by one commit.
    ///
    /// - Returns: `false` if that can't be done: it must then be read afresh.
    func apply(_ changes: [PartChange]) throws -> Bool

    /// Whether there is something to be told that has not been.
    var isDirty: Bool { get }

    /// What is under way is known to the subscriber already: it made the change itself. If what waits can't be told apart
    /// from it, the subscriber is told anew.
    ///
    /// - Parameter wasDirty: Whether something else waited to be told before.
    func settleQuietly(wasDirty: Bool)

    /// Forgets what the subscriber was told: what it is told next is told as if it were the first, and told even if it is
    /// what was told last.
    func tellAnew()
}
