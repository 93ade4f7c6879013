/// The options of a page server.
struct WebOptions: Sendable {
    /// The address to listen on.
    var host = "127.0.0.1"
    /// The port; 0 for a free one.
    var port = 8090
    /// More names of this machine, which requests may use.
    var names: [String] = []
    /// The password that each browser needs; `nil` for none, on loopback only.
    var password: String?
    /// Whether changes are exchanged with the server automatically from the start.
    var syncsAutomatically = true
    /// The limits on what browsers may occupy.
    var limits = WebLimits()
}

/// The limits on what browsers may occupy.
struct WebLimits: Sendable {
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
    /// The pause after each event, in which further changes are collected.
    var pause = Duration.milliseconds(25)
    /// The interval of comments that keep a quiet stream open.
    var heartbeat = Duration.seconds(15)
    /// The number of bytes of a photograph.
    var photo = 20 << 20
    /// The number of bytes of a form.
    var form = 64 << 10
}
