import NIOCore
import PageServer

/// The server of the app's pages.
struct WebServer {
    private let state: WebState

    init(_ state: WebState) {
        self.state = state
    }

    /// Serves until SIGINT or SIGTERM.
    func run() async throws {
        let options = state.options
        do {
            try await state.serve(
                WebRoutes(state: state).makeRouter(), label: "cards web", host: options.host, port: options.port,
                connections: options.limits.connections,
                onListening: { Screen.output.print("The cards are at \($0)  Ctrl-C ends the server.") },
                onShutdown: { await state.stop() })
        } catch is IOError {
            throw Failure(
                .cannotCreate, message: "Can't listen on \(HostRules.inURL(options.host)), port \(options.port).",
                advice: "Choose another --port.")
        }
    }
}
