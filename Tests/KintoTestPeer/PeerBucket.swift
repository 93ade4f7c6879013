import Foundation
import TandemKinto

/// A bucket of a Kinto server, with the account of the environment.
struct PeerBucket {
    let remote: KintoRemote

    /// - Parameter url: The bucket's URL: `http://127.0.0.1:8888/v1/buckets/cards`.
    init(url: String) throws {
        let account = ProcessInfo.processInfo.environment["KINTO_USER"] ?? ""
        guard let range = url.range(of: "/buckets/"), let server = URL(string: String(url[..<range.lowerBound])),
            let colon = account.firstIndex(of: ":")
        else { throw PeerFailure("not a bucket and an account: \(url)") }
        let kinto = KintoAccount(
            name: String(account[..<colon]), password: String(account[account.index(after: colon)...]))
        remote = try KintoRemote(
            url: server, bucket: String(url[range.upperBound...]), creates: true,
            authentication: kinto.authentication)
    }
}
