import Dispatch
import NIOCore
import PageServer
import Synchronization
import TandemInspector

/// The pages of `tandem browse`.
package enum StoreBrowser {
    /// Serves the pages of a store until SIGINT or SIGTERM. It blocks the caller's thread.
    ///
    /// - Parameter request: The store and the address.
    /// - Throws: `CommandFailure` if the address can't be used, or `ResourceFolder.Missing` if the files of the pages
    ///   are missing.
    package static func serve(_ request: BrowseRequest) throws {
        let site = try BrowserSite(request, resources: ResourceFolder.find("Tandem_TandemBrowser"))
        let failure = Mutex<(any Error)?>(nil)
        let hasEnded = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                try await run(site)
            } catch {
                failure.withLock { $0 = error }
            }
            hasEnded.signal()
        }
        hasEnded.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private static func run(_ site: BrowserSite) async throws {
        let request = site.request
        do {
            try await site.serve(
                BrowserRoutes(site: site).makeRouter(), label: "tandem browse", host: request.host, port: request.port,
                connections: site.limits.connections,
                onListening: { request.report("The store is at \($0)  Ctrl-C ends the server.") },
                onShutdown: { site.stop() })
        } catch is IOError {
            throw CommandFailure(
                .failure, message: "Can't listen on \(HostRules.inURL(request.host)), port \(request.port).",
                advice: "Choose another --port.")
        }
    }
}
