import Foundation
import HTTPTypes
import PageServer
import Tandem
import TandemInspector

/// The data that all handlers of the pages share.
final class BrowserSite: WebSite {
    let request: BrowseRequest
    let limits: BrowserLimits
    let hosts: HostRules
    let sessions = SessionList()
    let attempts = AttemptLimit()
    let templates: Templates
    let assets: Assets
    /// The name of the session's cookie. Cookies do not distinguish ports, and each store has a server of its own.
    let cookieName: String
    let tokenHeader = HTTPField.Name("X-Tandem-Token")!
    let dataPaths = ["/data/", "/edit/", "/undo/", "/events", "/assets/"]
    let revisions: StoreRevisions
    let counts = CountCache()
    let undo = UndoList()

    var store: Store { request.store }

    /// Creates the site of a store.
    ///
    /// - Throws: An error if the templates or the scripts can't be read.
    init(_ request: BrowseRequest, limits: BrowserLimits = BrowserLimits(), resources: URL) throws {
        self.request = request
        self.limits = limits
        cookieName = "tandem-" + (request.port == 0 ? String(SecretText().text.prefix(8)) : String(request.port))
        hosts = HostRules(listeningOn: request.host, names: request.names)
        templates = try Templates(folder: resources.appendingPathComponent("templates"))
        assets = try Assets(folder: resources.appendingPathComponent("assets"))
        revisions = StoreRevisions(request.store, limits: limits)
    }

    /// The name of the store's file.
    var storeName: String { URL(fileURLWithPath: request.path).lastPathComponent }

    /// The gates that a new session has passed. The key of an encrypted store was given to the command.
    var openGates: WebSession.Gates { request.password == nil ? [.password, .passphrase] : [.passphrase] }

    /// The IDs of the sessions with an open page.
    var openPages: Set<SecretText> { revisions.sessions }

    /// Ends all streams.
    func stop() { revisions.stop() }
}
