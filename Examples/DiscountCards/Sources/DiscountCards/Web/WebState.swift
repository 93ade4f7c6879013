import Foundation
import HTTPTypes
import PageServer
import Synchronization
import Tandem

/// All that the handlers of a page server share.
final class WebState: WebSite {
    /// The store of the server.
    struct Location: Sendable {
        let path: String
        /// The person to sign in, if given.
        let name: String?
    }

    let options: WebOptions
    let hosts: HostRules
    let sessions = SessionList()
    let attempts = AttemptLimit()
    let streams: StreamList
    let templates: Templates
    let assets: Assets
    /// The name of the session's cookie. Cookies do not distinguish ports, and two servers are two devices.
    let cookieName: String
    let tokenHeader = HTTPField.Name("X-Cards-Token")!
    let dataPaths = ["/parts/", "/events", "/rows", "/assets/"]
    private let location: Location
    private let opened: Mutex<Opened>

    private struct Opened {
        var wallet: WebWallet?
        /// The passphrase that has opened the store, as a keyed hash.
        var passphrase: PassphraseHash?
    }

    /// - Parameter wallet: The open store; `nil` if it is encrypted, and a browser must give the passphrase.
    init(_ location: Location, wallet: Wallet?, options: WebOptions, resources: URL) throws {
        self.location = location
        self.options = options
        cookieName = "cards-" + (options.port == 0 ? String(SecretText().text.prefix(8)) : String(options.port))
        hosts = HostRules(listeningOn: options.host, names: options.names)
        streams = StreamList(options.limits)
        templates = try Templates(folder: resources.appendingPathComponent("templates"))
        assets = try Assets(folder: resources.appendingPathComponent("assets"))
        let web = wallet.map { wallet in
            WebWallet(
                wallet, syncsAutomatically: options.syncsAutomatically, followsLogin: location.name == nil)
        }
        opened = Mutex(Opened(wallet: web))
        isLockable = wallet == nil
        web?.sync.start()
    }

    /// The name of the store's file.
    var storeName: String { URL(fileURLWithPath: location.path).lastPathComponent }

    /// Whether each browser must give the passphrase of the store.
    let isLockable: Bool

    /// The gates that a new session has passed.
    var openGates: WebSession.Gates {
        var gates: WebSession.Gates = []
        if options.password == nil { gates.insert(.password) }
        if !isLockable { gates.insert(.passphrase) }
        return gates
    }

    /// The IDs of the sessions with an open page.
    var openPages: Set<SecretText> { Set(streams.all.map(\.sessionID)) }

    /// Returns the open store.
    ///
    /// - Throws: ``WebFailure`` if no passphrase has opened it.
    func wallet() throws -> WebWallet {
        guard let wallet = opened.withLock({ $0.wallet }) else {
            throw WebFailure(.unauthorized, message: "The store is locked. Load the page again.")
        }
        return wallet
    }

    /// Returns whether a passphrase is right, and opens the store if it is closed.
    ///
    /// - Throws: `TandemError` if the store can't be opened for another reason.
    func unlock(_ passphrase: String) async throws -> Bool {
        if let known = opened.withLock({ $0.passphrase }) { return known.matches(passphrase) }
        let store: Store
        do {
            store = try await Store.open(at: location.path, key: .passphrase(passphrase), models: Wallet.models)
        } catch let error as TandemError where [.wrongKey, .invalidKey].contains(error.code) {
            return false
        }
        let wallet = WebWallet(
            try Wallet(store, as: location.name), syncsAutomatically: options.syncsAutomatically,
            followsLogin: location.name == nil)
        let isFirst = opened.withLock { opened in
            guard opened.wallet == nil else { return false }
            opened = Opened(wallet: wallet, passphrase: PassphraseHash(passphrase))
            return true
        }
        if isFirst { wallet.sync.start() } else { store.close() }
        return true
    }

    /// Ends all streams and syncs.
    func stop() async {
        await streams.closeAll()
        await opened.withLock({ $0.wallet })?.sync.stop()
    }

    /// Returns whether a store can't be opened without a passphrase: its file exists, and is not a plain database.
    static func isEncrypted(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        guard let head = try? file.read(upToCount: 16), !head.isEmpty else { return false }
        return head != Data("SQLite format 3\0".utf8)
    }
}
