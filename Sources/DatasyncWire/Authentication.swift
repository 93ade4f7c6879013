import HTTPTypes
import TandemSync

/// Why an app is asked for credentials.
public enum AuthenticationReason: Hashable, Sendable {
    /// They are needed for the first time.
    case first
    /// The server did not take the last ones.
    case refused(status: Int)
}

/// Asks the app for the header fields that say who is calling. Empty fields are an answer too.
public typealias Authentication = @Sendable (AuthenticationReason) async throws -> HTTPFields

extension HTTPFields {
    /// A token of Azure Mobile Apps' own, in `X-ZUMO-AUTH`.
    public static func zumo(_ token: String) -> HTTPFields {
        [.zumoToken: token]
    }

    /// A bearer's token, in `Authorization`.
    public static func bearer(_ token: String) -> HTTPFields {
        [.authorization: "Bearer \(token)"]
    }
}

/// Keeps the app's credentials, and asks for new ones once, however many requests were refused at a time.
actor Credentials {
    /// Credentials and which they are, so that a refusal of older ones is not taken for one of these.
    struct Issue: Sendable {
        let fields: HTTPFields
        let number: Int
    }

    private let ask: Authentication
    private var issue: Issue?
    private var reason = AuthenticationReason.first
    private var lastNumber = 0
    /// Which ones the server has taken last, for whatever request.
    private var lastTaken: Int?
    private var isAsking = false
    private var waiters: [Int: CheckedContinuation<Issue, any Error>] = [:]
    private var nextWaiter = 0

    init(_ ask: @escaping Authentication) {
        self.ask = ask
    }

    /// The credentials: those that are kept, or those that the app gives.
    ///
    /// A caller who is cancelled stops waiting at once. The app's answer is kept all the same.
    func current() async throws -> Issue {
        if let issue { return issue }
        if !isAsking {
            isAsking = true
            let reason = reason
            // Not a child of this call: others wait for it too.
            Task {
                do {
                    self.end(.success(try await self.ask(reason)))
                } catch {
                    self.end(.failure(error))
                }
            }
        }
        let waiter = nextWaiter
        nextWaiter += 1
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    waiters[waiter] = continuation
                }
            }
        } onCancel: {
            Task { await self.stopWaiting(waiter) }
        }
    }

    /// Forgets credentials that the server did not take, unless there are newer ones.
    func refuse(_ number: Int, status: Int) {
        guard issue?.number == number else { return }
        issue = nil
        reason = .refused(status: status)
    }

    /// Notes that the server has carried a request out that came with these.
    func noteTaken(_ number: Int) {
        lastTaken = max(lastTaken ?? number, number)
    }

    /// Returns whether the server may have refused a request for its content, and not for its credentials, of which it
    /// refused both: it accepted them from another request, or the app has issued different ones since.
    func mayBeAccepted(_ first: Issue, _ second: Issue) -> Bool {
        guard let lastTaken else { return false }
        return lastTaken >= second.number || lastTaken >= first.number && first.fields != second.fields
    }

    private func end(_ result: Result<HTTPFields, any Error>) {
        isAsking = false
        let waiting = waiters.values
        waiters = [:]
        switch result {
        case .success(let fields):
            lastNumber += 1
            let issue = Issue(fields: fields, number: lastNumber)
            self.issue = issue
            for waiter in waiting { waiter.resume(returning: issue) }
        case .failure(let error):
            for waiter in waiting { waiter.resume(throwing: error) }
        }
    }

    private func stopWaiting(_ waiter: Int) {
        waiters.removeValue(forKey: waiter)?.resume(throwing: CancellationError())
    }
}
