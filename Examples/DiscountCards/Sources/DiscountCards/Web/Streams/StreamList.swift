import PageServer
import Synchronization

/// The open event streams, in the order of their beginnings. Their number is limited.
final class StreamList: Sendable {
    private let streams = Mutex<[PageStream]>([])
    private let limits: WebLimits

    init(_ limits: WebLimits) {
        self.limits = limits
    }

    /// Adds a stream. If its session has too many, the oldest of them is ended for it.
    ///
    /// - Returns: The place of the stream, or `nil` if there are too many of all sessions.
    func add(_ stream: PageStream) -> Place? {
        let (isAdded, replaced) = streams.withLock { streams -> (Bool, PageStream?) in
            var replaced: PageStream?
            let own = streams.filter { $0.sessionID == stream.sessionID }
            if own.count >= limits.streamsOfSession, let oldest = own.first {
                streams.removeAll { $0 === oldest }
                replaced = oldest
            }
            guard streams.count < limits.streams else { return (false, replaced) }
            streams.append(stream)
            return (true, replaced)
        }
        if let replaced { Task { await replaced.inbox.close() } }
        return isAdded ? Place(of: stream, in: self) : nil
    }

    /// The place of a stream in the list. It ends with this object, because a connection can end before its response is
    /// written.
    final class Place: Sendable {
        private let stream: PageStream
        private let list: StreamList

        fileprivate init(of stream: PageStream, in list: StreamList) {
            (self.stream, self.list) = (stream, list)
        }

        /// Removes the stream from the list.
        func leave() { list.remove(stream) }

        deinit { leave() }
    }

    /// Returns a stream of a session.
    func stream(_ id: String, of session: WebSession) -> PageStream? {
        streams.withLock { $0.first { $0.id == id && $0.sessionID == session.id } }
    }

    private func remove(_ stream: PageStream) {
        streams.withLock { $0.removeAll { $0 === stream } }
    }

    /// Ends all streams, for example because the server stops.
    func closeAll() async {
        for stream in all { await stream.inbox.close() }
    }

    /// The open streams.
    var all: [PageStream] { streams.withLock { $0 } }

    /// The number of open streams.
    var count: Int { streams.withLock { $0.count } }
}
