import OpenCombine
import Tandem

// Publishers for live values. Each publisher delivers on a thread of its own choosing; use `receive(on:)` to change it.
// Without demand, a publisher keeps only the newest value.

extension SyncContext {
    /// An OpenCombine publisher of the context's status. It delivers the current status first, then each change. See
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

    /// An OpenCombine publisher of the operations that wait for the user. It delivers the current ones first, then each
    /// change. See ``failures``.
    ///
    /// Finishes when the store is closed; fails with what the store throws.
    public var failuresPublisher: AnyPublisher<[TableOperationError], any Error> {
        StreamPublisher { self.failures }.eraseToAnyPublisher()
    }

    /// Returns an OpenCombine publisher of an object's sync state. It delivers the current state first, then each
    /// change; `nil` if the store does not have the object. See ``states(of:)``.
    ///
    /// Finishes when the store is closed; fails with what the store throws.
    public func statePublisher<M: Model>(of object: M) -> AnyPublisher<SyncState?, any Error> {
        StreamPublisher { self.states(of: object) }.eraseToAnyPublisher()
    }

    /// Returns an OpenCombine publisher of a file's status. It delivers the current status first, then each change. See
    /// ``statuses(of:)``.
    ///
    /// For example:
    ///
    /// ```swift
    /// let subscription = sync.statusPublisher(of: photo)
    ///     .sink(receiveCompletion: { _ in }) { cloud.isHidden = $0.isOnDevice }
    /// ```
    ///
    /// Finishes when the store is closed; fails when the store no longer knows the file.
    public func statusPublisher(of attachment: Attachment) -> AnyPublisher<AttachmentStatus, any Error> {
        StreamPublisher { self.statuses(of: attachment) }.eraseToAnyPublisher()
    }
}

extension SyncScheduler {
    /// An OpenCombine publisher of the scheduler's state. It delivers the current state first, then each change. See
    /// ``states``.
    ///
    /// Finishes when the scheduler is deallocated. The publisher does not retain the scheduler.
    public var statePublisher: AnyPublisher<State, Never> {
        let states = liveState
        return StreamPublisher { states.values() }.eraseToAnyPublisher()
    }
}
