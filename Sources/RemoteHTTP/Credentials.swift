import Foundation
import HTTPTypes
import TandemSync

/// The reason for a request for credentials.
public enum AuthenticationReason: Hashable, Sendable {
    /// The server has not received credentials yet.
    case first
    /// The server refused the previous credentials.
    case refused(status: Int)
}

/// Returns the header fields that identify the user. The result may be empty.
public typealias Authentication = @Sendable (AuthenticationReason) async throws -> HTTPFields

extension HTTPFields {
    /// Creates the header field `Authorization` with a bearer token.
    ///
    /// - Parameter token: The token, without the scheme `Bearer`.
    public static func bearer(_ token: String) -> HTTPFields {
        [.authorization: "Bearer \(token)"]
    }

    /// Creates the header field `Authorization` with a name and a password.
    ///
    /// - Parameters:
    ///   - user: The user's name, without a colon.
    ///   - password: The password.
    public static func basic(user: String, password: String) -> HTTPFields {
        [.authorization: "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()]
    }
}

/// Caches the app's credentials. Asks for new ones once, however many concurrent requests were refused.
package actor Credentials {
    /// Numbered credentials. The number keeps a refusal of older credentials from invalidating newer ones.
    package struct Issue: Sendable {
        package let fields: HTTPFields
        package let number: Int
    }

    private let ask: Authentication
    private var issue: Issue?
    private var reason = AuthenticationReason.first
    private var lastNumber = 0
    /// The number of the credentials that the server accepted most recently, for any request.
    private var lastUsed: Int?
    private var isAsking = false
    private var waiters: [Int: CheckedContinuation<Issue, any Error>] = [:]
    private var nextWaiter = 0

    package init(_ ask: @escaping Authentication) {
        self.ask = ask
    }

    /// Returns the cached credentials, or asks the app for them.
    ///
    /// A cancelled caller stops waiting at once. The app's result is cached all the same.
    package func current() async throws -> Issue {
        if let issue { return issue }
        if !isAsking {
            isAsking = true
            let reason = reason
            // The task is unstructured because other callers wait for it too.
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

    /// Returns the cached credentials, or asks the app for them, for a request that has not been sent.
    ///
    /// - Parameter refusal: The status by which the server refused the previous credentials of the request.
    package func current(after refusal: Int?) async throws(RemoteFailure) -> Issue {
        do {
            return try await current()
        } catch {
            throw error is CancellationError && Task.isCancelled
                ? .notSent(error) : .unauthenticated(status: refusal ?? 401, underlying: error)
        }
    }

    /// Drops credentials that the server refused, unless newer ones are cached.
    package func refuse(_ number: Int, status: Int) {
        guard issue?.number == number else { return }
        issue = nil
        reason = .refused(status: status)
    }

    /// Records that the server accepted a request with these credentials.
    package func recordUsed(_ number: Int) {
        lastUsed = max(lastUsed ?? number, number)
    }

    /// Returns whether the server may have refused a request for its content, and not for its two credentials.
    ///
    /// That is possible if the server accepted the second credentials from another request. It is also possible if it
    /// accepted the first ones, and the app has issued different ones since.
    package func mayBeAccepted(first: Issue, second: Issue) -> Bool {
        guard let lastUsed else { return false }
        return lastUsed >= second.number || lastUsed >= first.number && first.fields != second.fields
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
