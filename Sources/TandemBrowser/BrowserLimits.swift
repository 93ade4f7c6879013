/// The limits on what browsers may occupy.
struct BrowserLimits: Sendable {
    /// The number of open event streams of all browsers.
    var streams = 24
    /// The number of open event streams of a session. Browsers allow six connections to a server.
    var streamsOfSession = 8
    /// The number of connections of all browsers.
    var connections = 300
    /// The time in which a browser must read an event, before its stream is closed.
    var readingTime = Duration.seconds(10)
    /// The number of bytes that the system buffers for a stream.
    var streamBuffer = 64 << 10
    /// The pause after each event, in which further commits are collected.
    var pause = Duration.milliseconds(100)
    /// The interval of comments that keep a quiet stream open.
    var heartbeat = Duration.seconds(15)
    /// The number of bytes of a request.
    var body = 1 << 20
    /// The number of bytes of a condition, an order or a search.
    var text = 8 << 10
    /// The number of rows in a response.
    var rows = 400
    /// The number of operations in a response.
    var operations = 500
    /// The number of objects that a delete may affect so that it can be undone.
    var undoneObjects = 1000
    /// The number of bytes of files that are kept for an undo.
    var undoneFiles = 8 << 20
}
