/// The source of a row's new values.
enum RowSource {
    /// The app. References have local IDs, and the change queues an operation.
    case app
    /// A migration of the app. References have local IDs, and the change queues no operation.
    case migration
    /// A server. References may have server IDs, and the change queues no operation.
    case server

    /// Whether the change is sent to the server.
    var queuesOperations: Bool { self == .app }
}
