import NIOCore
import PageServer

extension WebState {
    /// Serves the app's pages until SIGINT or SIGTERM.
    func serve() async throws {
        do {
            try await serve(
                WebRoutes(state: self).makeRouter(), label: "cards web", host: options.host, port: options.port,
                connections: options.limits.connections,
                onListening: { Screen.output.print("The cards are at \($0)  Ctrl-C ends the server.") },
                onShutdown: { await self.stop() })
        } catch is IOError {
            throw Failure(
                .cannotCreate, message: "Can't listen on \(HostRules.inURL(options.host)), port \(options.port).",
                advice: "Choose another --port.")
        }
    }
}
