import Dispatch
import PageServer
import Synchronization
import TandemInspector

/// The pages of `tandem browse`.
package enum StoreBrowser {
    /// The end of the server.
    private final class Outcome: Sendable {
        let error = Mutex<(any Error)?>(nil)
        let isReached = DispatchSemaphore(value: 0)
    }

    /// Serves the pages of a store until SIGINT or SIGTERM. It blocks the caller's thread.
    ///
    /// - Parameter request: The store and the address.
    /// - Throws: `CommandFailure` if the address can't be used, or `ResourceFolder.Missing` if the files of the pages
    ///   are missing.
    package static func serve(_ request: BrowseRequest) throws {
        let server = BrowserServer(try BrowserSite(request, resources: ResourceFolder.find("Tandem_TandemBrowser")))
        let outcome = Outcome()
        Task.detached {
            do {
                try await server.run()
            } catch {
                outcome.error.withLock { $0 = error }
            }
            outcome.isReached.signal()
        }
        outcome.isReached.wait()
        if let error = outcome.error.withLock({ $0 }) { throw error }
    }
}
