import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import RemoteHTTP

extension ResponseCollector {
    /// Returns the reason for a missing response.
    ///
    /// Whether the request was sent is recorded, not inferred from the error: a reset connection can mean either.
    func failure(_ error: any Error, isCancelled: Bool, server: String) -> TransportFailure {
        switch error {
        case is TooLarge, NIOHTTPDecompression.DecompressionError.limit: return .tooLarge
        default: break
        }
        let wasSent = self.wasSent
        let cause: any Error =
            isCancelled
            ? CancellationError() : error as? NetworkError ?? NetworkError(error, server: server, wasConnected: wasSent)
        return wasSent ? .lost(cause) : .notSent(cause)
    }
}

extension NetworkError {
    init(_ error: any Error, server: String, wasConnected: Bool) {
        let (code, message) = Self.reading(error, wasConnected: wasConnected)
        // NB: Descriptions of HTTPClientError contain header values. Its short description does not.
        let underlying: (any Error)? =
            error is HTTPClientError || error is ResponseCollector.BadHead || error is ServerIdentity.Mismatch
            ? nil : error
        self.init(code, message: message, server: server, underlying: underlying)
    }

    private static func reading(_ error: any Error, wasConnected: Bool) -> (Code, String) {
        switch error {
        case let error as HTTPClientError: return reading(error)
        case let error as NIOConnectionError where error.connectionErrors.isEmpty:
            return (.noSuchHost, "The server's name can't be resolved. Check the address and the network.")
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError, is ServerIdentity.Mismatch:
            return (
                .untrusted,
                "The server has no certificate that is trusted for its name. If it is your own, add it to `trust`."
            )
        case HTTPParserError.invalidEOFState:
            return (.closed, "The connection ended before the response was complete.")
        case is HTTPParserError, is ResponseCollector.BadHead:
            return (.notHTTP, "The server's response is not HTTP.")
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            return (.compression, "The response's body can't be decompressed.")
        case is NIOConnectionError, is ChannelError, is IOError:
            return wasConnected
                ? (.closed, "The connection was lost.")
                : (.unreachable, "The server can't be reached. Check the address, the port and the network.")
        default:
            return (.failed, "The exchange failed.")
        }
    }

    private static func reading(_ error: HTTPClientError) -> (Code, String) {
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .httpProxyHandshakeTimeout,
            .socksHandshakeTimeout:
            (.timedOut, "The time limit for connecting is over.")
        case .readTimeout, .writeTimeout: (.timedOut, "The server was silent for too long.")
        case .deadlineExceeded: (.timedOut, "The exchange took too long.")
        case .remoteConnectionClosed, .uncleanShutdown: (.closed, "The server closed the connection.")
        case .invalidProxyResponse: (.proxy, "The proxy did not let the connection through.")
        case .proxyAuthenticationRequired: (.proxy, "The proxy requires authentication. Set its `credentials`.")
        case .alreadyShutdown, .cancelled: (.stopped, "The transport was shut down.")
        case .invalidURL, .emptyHost, .emptyScheme: (.invalidAddress, "The address is not a valid HTTP URL.")
        default: (.failed, "\(error.shortDescription).")
        }
    }
}
