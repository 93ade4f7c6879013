import Foundation
import RemoteHTTP

extension ServerAddress {
    /// Reads a server's URL.
    package init(of url: URL) throws(NetworkError) {
        guard let address = ServerAddress(url.absoluteString) else {
            // The message omits the URL, which may contain a password.
            throw NetworkError(
                .invalidAddress,
                message: "A server's URL is http or https with a host, maybe a port and a path, "
                    + "and no user, query or fragment.")
        }
        self = address
    }
}
