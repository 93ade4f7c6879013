import OpenCombine
import Tandem

// What is live, for those who write in Combine's way. Each publisher tells on a thread of its own choosing: `receive(on:)`
// takes it elsewhere. A value that nobody has asked for is held back, and only the newest of them is kept.

extension SyncContext {
    /// What the context is doing, as an OpenCombine publisher: first as it is, then whenever it changes. See
    /// ``statuses``.
    ///
    /// For example:
    ///
    /// ```swift
    /// let subscription = sync.statusPublisher
    ///     .map { $0.pending + $0.failed }
    ///     .sink(receiveCompletion: { _ in }) { badge.show($0) }
    /// ```
    ///
    /// Finishes when the store is closed; fails with what the store throws.
    public var statusPublisher: AnyPublisher<SyncStatus, any Error> {
        StreamPublisher { self.statuses }.eraseToAnyPublisher()
    }

    /// The operations that wait for the user, as an OpenCombine publisher: first as they are, then whenever they change.
    /// See ``failures``.
    ///
    /// Finishes when the store is closed; fails with what the store throws.
    public var failuresPublisher: AnyPublisher<[TableOperationError], any Error> {
        StreamPublisher { self.failures }.eraseToAnyPublisher()
    }

    /// How far an object is on its way to the server, as an OpenCombine publisher: first as it is, then whenever it
    /// changes; `nil` if the store does not have it. See ``states(of:)``.
    ///
    /// Finishes when the store is closed; fails with what the store throws.
    public func statePublisher<M: Model>(of object: M) -> AnyPublisher<SyncState?, any Error> {
        StreamPublisher { self.states(of: object) }.eraseToAnyPublisher()
    }

    /// How a file stands, as an OpenCombine publisher: first as it is, then whenever that changes. See ``statuses(of:)``.
    ///
    /// For example:
    ///
    /// ```swift
    /// let subscription = sync.statusPublisher(of: photo)
    ///     .sink(receiveCompletion: { _ in }) { cloud.isHidden = $0.isOnDevice }
    /// ```
    ///
    /// Finishes when the store is closed; fails when the store does not know the file any more.
    public func statusPublisher(of attachment: Attachment) -> AnyPublisher<AttachmentStatus, any Error> {
        StreamPublisher { self.statuses(of: attachment) }.eraseToAnyPublisher()
    }
}

extension SyncScheduler {
    /// What the scheduler is at, as an OpenCombine publisher: first as it is, then whenever it changes. See ``states``.
    ///
    /// Finishes when the scheduler is gone. It does not keep the scheduler.
    public var statePublisher: AnyPublisher<State, Never> {
        let states = liveState
        return StreamPublisher { states.values() }.eraseToAnyPublisher()
    }
}
