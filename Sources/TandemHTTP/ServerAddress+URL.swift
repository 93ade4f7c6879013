import Foundation
import RemoteHTTP

extension ServerAddress {
    /// Reads several URLs of a server.
    package static func all(of urls: [URL]) throws(NetworkError) -> [ServerAddress] {
        var addresses: [ServerAddress] = []
        for url in urls { addresses.append(try ServerAddress(of: url)) }
        return addresses
    }

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
