import Foundation
import Tandem
import TandemDatasync
import TandemKinto
import TandemSync

/// A server for cards and photographs. Its address selects the kind.
///
/// The address of a Kinto server ends with a bucket: `http://127.0.0.1:8888/v1/buckets/cards`. All other addresses are
/// those of Datasync servers.
enum CardServer: Equatable {
    case datasync(URL)
    /// A bucket of a Kinto server at a URL.
    case kinto(URL, bucket: String)

    /// Parses an address. Sends no request.
    init(_ text: String) throws {
        guard let address = ServerAddress(text), let url = URL(string: address.description) else {
            throw Failure(
                .usage, message: "“\(text)” is not a valid server URL.",
                advice: "It has http or https, a host, maybe a port and a path, and no user, query or fragment.")
        }
        let path = address.path.split(separator: "/")
        guard let index = path.firstIndex(of: "buckets") else {
            self = .datasync(url)
            return
        }
        let api = ["\(address.scheme)://\(address.authority)"] + path[..<index].map(String.init)
        guard index == path.count - 2, Self.isBucketName(path[index + 1]),
            let url = URL(string: api.joined(separator: "/"))
        else {
            throw Failure(
                .usage, message: "“\(text)” is not a bucket of a Kinto server.",
                advice: "The address of a bucket ends with its name: http://127.0.0.1:8888/v1/buckets/cards")
        }
        self = .kinto(url, bucket: String(path[index + 1]))
    }

    /// Returns whether a text has ASCII letters, digits, `-` and `_` only, and begins with a letter or digit.
    private static func isBucketName(_ text: Substring) -> Bool {
        text.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9_-]*/) != nil
    }

    /// Creates a context for a store and this server.
    ///
    /// - Parameter session: The user and the token: a bearer token for Datasync, `account:password` for Kinto. If it is
    ///   empty, the requests are anonymous.
    func context(_ store: Store, session: Session, options: SyncContext.Options) throws -> SyncContext {
        let authentication = session.token.isEmpty ? nil : try authentication(token: session.token)
        do {
            switch self {
            case .datasync(let url):
                let server = try DatasyncServer(url: url, authentication: authentication)
                return SyncContext(store: store, server: server, user: session.name, options: options)
            case .kinto(let url, let bucket):
                // A missing bucket is an error: its administrator decides who reads and writes the family's cards.
                let server = try KintoServer(url: url, bucket: bucket, authentication: authentication)
                return SyncContext(store: store, server: server, user: session.name, options: options)
            }
        } catch {
            throw Failure(.usage, message: "“\(session.server)” is not a valid server URL.", advice: error.message)
        }
    }

    private func authentication(token: String) throws -> Authentication {
        switch self {
        case .datasync: { @Sendable _ in .bearer(token) }
        case .kinto: try Self.account(token: token).authentication
        }
    }

    /// Parses a token for Kinto: `account:password`. The password may contain colons.
    static func account(token: String) throws -> KintoAccount {
        let parts = token.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
            throw Failure(
                .usage, message: "The token for a Kinto server has no account or no password.",
                advice: "Set --token or \(LogIn.variable) to account:password.")
        }
        return KintoAccount(name: String(parts[0]), password: String(parts[1]))
    }
}
