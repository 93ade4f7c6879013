import HummingbirdCore
import HummingbirdTLS
import NIOSSL

/// A server's certificate chain and private key.
public struct ServerCertificate: Sendable {
    private let chain: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey

    /// Creates a certificate from PEM texts: the server's certificate followed by the intermediate ones, and its key.
    ///
    /// - Parameters:
    ///   - pem: The certificates, the server's own first.
    ///   - privateKeyPEM: The private key of the first certificate.
    /// - Throws: ``TandemServerError`` with the code `invalidCertificate`.
    public init(pem: String, privateKeyPEM: String) throws(TandemServerError) {
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8))
            key = try NIOSSLPrivateKey(bytes: Array(privateKeyPEM.utf8), format: .pem)
        } catch {
            throw TandemServerError(
                .invalidCertificate, message: "The certificate or its key can't be read: both must be PEM.",
                underlying: error)
        }
    }

    /// Wraps a channel in TLS.
    func wrap(_ channel: HTTP1Channel) throws(TandemServerError) -> TLSChannel<HTTP1Channel> {
        do {
            return try TLSChannel(
                channel,
                tlsConfiguration: .makeServerConfiguration(
                    certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
        } catch {
            throw TandemServerError(
                .invalidCertificate, message: "The certificate and its key can't be used together.", underlying: error)
        }
    }
}
