import Synchronization

/// The open event streams. Their number is limited.
final class StreamList: Sendable {
    private let streams = Mutex<[String: PageStream]>([:])
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// Adds a stream.
    ///
    /// - Returns: `false` if there are too many.
    func add(_ stream: PageStream) -> Bool {
        streams.withLock { streams in
            guard streams.count < limit else { return false }
            streams[stream.id] = stream
            return true
        }
    }

    /// Returns a stream of a session.
    func stream(_ id: String, of session: WebSession) -> PageStream? {
        guard let stream = streams.withLock({ $0[id] }), stream.sessionID == session.id else { return nil }
        return stream
    }

    func remove(_ stream: PageStream) {
        streams.withLock { $0[stream.id] = nil }
    }

    /// Ends all streams, for example because the server stops.
    func closeAll() async {
        for stream in all { await stream.inbox.close() }
    }

    /// The open streams.
    var all: [PageStream] { streams.withLock { Array($0.values) } }

    /// The number of open streams.
    var count: Int { streams.withLock { $0.count } }
}
