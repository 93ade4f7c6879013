import Foundation
import PageServer
import Synchronization
import Tandem
import TandemSync

/// The sync of a page server's store: by a button and, if it is switched on, automatic.
///
/// It follows the session in the store. After a login here or by `cards login` in a terminal, it uses the new server.
final class WebSync: Sendable {
    private struct Connection: Sendable {
        let session: Session
        let context: SyncContext
        let scheduler: SyncScheduler
        let statuses: Task<Void, Never>
    }

    private struct State {
        var wallet: Wallet
        var connection: Connection?
        var status: SyncStatus?
        var isAutomatic: Bool
        var problem: String?
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextListener = 0
        var follower: Task<Void, Never>?
    }

    private let store: Store
    private let followsLogin: Bool
    private let state: Mutex<State>

    /// - Parameter followsLogin: Whether a login changes the person.
    init(_ wallet: Wallet, isAutomatic: Bool, followsLogin: Bool) {
        store = wallet.store
        self.followsLogin = followsLogin
        state = Mutex(State(wallet: wallet, isAutomatic: isAutomatic))
    }

    /// The store from the view of the person signed in.
    var wallet: Wallet { state.withLock { $0.wallet } }

    /// Signs the person of a login in, unless the server was started for another one.
    func signIn(_ wallet: Wallet) {
        guard followsLogin else { return }
        state.withLock { $0.wallet = wallet }
        announce()
    }

    /// Starts to follow the session in the store.
    func start() {
        let follower = Task { [weak self, store] in
            do {
                for try await sessions in store.objects(Session.self).collectionPublisher.values {
                    await self?.connect(sessions.first)
                }
            } catch {
                self?.report("The login can't be read: \(error.localizedDescription)")
            }
        }
        state.withLock { $0.follower = follower }
    }

    /// Stops all syncs, and waits for their ends.
    func stop() async {
        let follower = state.withLock { state in
            defer { state.follower = nil }
            return state.follower
        }
        follower?.cancel()
        await follower?.value
        await connect(nil)
    }

    private func connect(_ session: Session?) async {
        let old = state.withLock { $0.connection }
        if let old, let session, old.session.isSame(as: session) { return }
        if let old {
            await old.scheduler.stop()
            old.statuses.cancel()
        }
        // An ended connection must not be used again, also if the next one fails.
        state.withLock { state in
            state.connection = nil
            state.problem = nil
        }
        guard session != nil else { return announce() }
        do {
            let sync = try CardSync(store)
            let connection = self.connection(for: sync.session, context: sync.context)
            signIn(sync.wallet)
            let isAutomatic = state.withLock { state in
                state.connection = connection
                return state.isAutomatic
            }
            if isAutomatic { connection.scheduler.start() }
        } catch let failure as Failure {
            report(failure.message)
        } catch {
            report(error.localizedDescription)
        }
        announce()
    }

    private func connection(for session: Session, context: SyncContext) -> Connection {
        var options = SyncScheduler.Options()
        options.debounce = .milliseconds(500)
        // The scheduler does not poll a server without change tags. The server's changes then arrive at this interval.
        options.interval = .seconds(20)
        options.polling = .seconds(2) ... .seconds(30)
        let scheduler = SyncScheduler(context, pulls: CardSync.queries, options: options) { [weak self] result in
            self?.record(result, of: session)
        }
        let statuses = Task { [weak self] in
            do {
                for try await status in context.statuses {
                    self?.state.withLock { $0.status = status }
                    self?.announce()
                }
            } catch {
                self?.report(error.localizedDescription)
            }
        }
        return Connection(session: session, context: context, scheduler: scheduler, statuses: statuses)
    }

    // MARK: Syncing

    /// Syncs as soon as no other sync is running.
    func syncNow() throws {
        guard let connection = state.withLock({ $0.connection }) else {
            throw WebFailure(.conflict, message: "No person is logged in. Log in first.")
        }
        if state.withLock({ $0.isAutomatic }) { return connection.scheduler.syncNow() }
        Task { [weak self] in
            let result: Result<SyncResult, any Error>
            do {
                result = .success(try await connection.context.synchronize(CardSync.queries))
            } catch {
                result = .failure(error)
            }
            self?.record(result, of: connection.session)
        }
    }

    /// Switches the automatic sync on or off.
    func setAutomatic(_ isAutomatic: Bool) async {
        let connection = state.withLock { state in
            state.isAutomatic = isAutomatic
            return state.connection
        }
        if isAutomatic { connection?.scheduler.start() } else { await connection?.scheduler.stop() }
        announce()
    }

    /// Downloads a photograph.
    func download(_ photo: Attachment) async throws {
        guard let context else { throw WebFailure(.notFound, message: "The photo is not on this device.") }
        try await context.download(photo)
    }

    /// The context of the current session, if a person is logged in.
    var context: SyncContext? { state.withLock { $0.connection?.context } }

    /// Records the problem of a sync, unless another session has begun since.
    private func record(_ result: Result<SyncResult, any Error>, of session: Session) {
        let problem: String? =
            switch result {
            case .success(let result):
                result.issues.first { !$0.isOver }.flatMap { Self.sentence(for: $0, session: session) }
            case .failure(let error as SyncError) where error.code == .unreachable:
                "\(session.server) can't be reached. Your changes are kept, and are sent when it responds."
            case .failure(let error as SyncError): Failure(error, session: session).message
            case .failure(is CancellationError): nil
            case .failure(let error): error.localizedDescription
            }
        state.withLock { state in
            if let current = state.connection?.session, current.isSame(as: session) { state.problem = problem }
        }
        announce()
    }

    /// Returns a sentence for an issue, unless the queue shows it.
    private static func sentence(for issue: SyncIssue, session: Session) -> String? {
        switch issue {
        case .failedPull(_, let error): Failure(error, session: session).message
        case .refusedRow(let row):
            "A \(SyncTally.noun(of: row.model)) from the server can't be stored: \(row.message)"
        case .unsentFile(let upload):
            if case .failed(let error, _) = upload.outcome { "The photo was not sent: \(error.message)" } else { nil }
        default: nil
        }
    }

    private func report(_ problem: String) {
        state.withLock { $0.problem = problem }
        announce()
    }

    // MARK: Watching

    /// A stream that yields after each change of the sync. A slow reader gets one element for several changes.
    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            return state.nextListener
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[number] = nil }
        }
        continuation.yield()
        return stream
    }

    private func announce() {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
    }

    /// Returns the current line.
    func line() async throws -> SyncLine {
        let (connection, status, isAutomatic, problem) = state.withLock {
            ($0.connection, $0.status, $0.isAutomatic, $0.problem)
        }
        var line: SyncLine
        if let connection, let status {
            line = SyncLine(status, session: connection.session, isAutomatic: isAutomatic, problem: problem)
        } else {
            line = SyncLine(pending: try await store.read { try $0.operations.count() })
            line.problem = problem
        }
        line.person = wallet.person.name
        return line
    }

    /// Returns the states of the cards of a list.
    ///
    /// The queue finds operations by their states faster than by their objects. Most operations are pending, and need
    /// no look-up.
    func states(of cards: [Card]) async throws -> [CardState] {
        let isPushing = if case .pushing? = state.withLock({ $0.status?.activity }) { true } else { false }
        let operations: [LocalID: PendingOperation] =
            cards.allSatisfy(\.isSynced)
            ? [:]
            : try await store.read { tx in
                let marked = try [PendingOperation.State.failed, .held, .attempted].flatMap {
                    try tx.operations.all(in: $0, limit: 1000)
                }
                return Dictionary(
                    marked.filter { $0.model == "Card" }.map { ($0.localID, $0) }, uniquingKeysWith: { $1 })
            }
        var states: [CardState] = []
        for card in cards {
            if card.photo != nil, let context {
                states.append(try await context.state(of: card).map { CardState($0) } ?? .synced)
            } else if let operation = operations[card.localID] {
                let isSending = operation.state == .attempted && operation.error == nil && isPushing
                states.append(isSending ? .sending : CardState(operation))
            } else {
                states.append(card.isSynced ? .synced : .notSent)
            }
        }
        return states
    }

    /// Returns the state of a card.
    func state(of card: Card) async throws -> CardState {
        // Most cards are synced, and have no file to wait for.
        if card.isSynced && card.photo == nil { return .synced }
        if let context { return try await context.state(of: card).map { CardState($0) } ?? .synced }
        return CardState(try await store.read { _ in try self.store.operations.operation(of: card) })
    }
}

extension Session {
    /// Returns whether two sessions have the same person, server and token.
    func isSame(as other: Session) -> Bool {
        name == other.name && server == other.server && token == other.token
    }
}
