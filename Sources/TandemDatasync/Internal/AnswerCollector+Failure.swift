import AsyncHTTPClient
import DatasyncWire
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL

extension AnswerCollector {
    /// Why there is no answer.
    ///
    /// Whether the request was sent is known from what was done, not guessed from the error: a reset connection can be
    /// the one or the other.
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
        // NB: HTTPClientError has header values among its descriptions; its short form has none.
        let underlying: (any Error)? =
            error is HTTPClientError || error is AnswerCollector.BadHead || error is ServerIdentity.Mismatch
            ? nil : error
        self.init(code, message, server: server, underlying: underlying)
    }

    private static func reading(_ error: any Error, wasConnected: Bool) -> (Code, String) {
        switch error {
        case let error as HTTPClientError: return reading(error)
        case let error as NIOConnectionError where error.connectionErrors.isEmpty:
            return (.noSuchHost, "The server's name is not known. Check the address and the network.")
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError, is ServerIdentity.Mismatch:
            return (
                .untrusted,
                "The server showed no certificate that is trusted for its name. Trust it by `trust`, if it is yours."
            )
        case HTTPParserError.invalidEOFState:
            return (.closed, "The connection ended before the answer did.")
        case is HTTPParserError, is AnswerCollector.BadHead:
            return (.notHTTP, "The server's answer is no HTTP.")
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            return (.compression, "The answer's body can't be decompressed.")
        case is NIOConnectionError, is ChannelError, is IOError:
            return wasConnected
                ? (.closed, "The connection broke.")
                : (.unreachable, "Nobody answers there. Check the address, the port and the network.")
        default:
            return (.failed, "The exchange failed.")
        }
    }

    private static func reading(_ error: HTTPClientError) -> (Code, String) {
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .httpProxyHandshakeTimeout,
            .socksHandshakeTimeout:
            (.timedOut, "No connection within the time for it.")
        case .readTimeout, .writeTimeout: (.timedOut, "The server said nothing for too long.")
        case .deadlineExceeded: (.timedOut, "The exchange took too long.")
        case .remoteConnectionClosed, .uncleanShutdown: (.closed, "The server closed the connection.")
        case .invalidProxyResponse: (.proxy, "The proxy did not let the connection through.")
        case .proxyAuthenticationRequired: (.proxy, "The proxy asks who is calling. Give it `credentials`.")
        case .alreadyShutdown, .cancelled: (.stopped, "The transport was shut down.")
        case .invalidURL, .emptyHost, .emptyScheme: (.invalidAddress, "The address is none.")
        default: (.failed, "\(error.shortDescription).")
        }
    }
}
