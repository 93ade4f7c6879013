import NIOCore
import NIOSSL

/// Whether a server's certificate, which is trusted, is the one of the host that was asked for.
///
/// NB: NIOSSL takes a certificate for an IP address wherever the connection leads to that address, though the host was
/// asked for by name: whoever has a certificate for their own address, and bends the name's look-up or runs the proxy,
/// would be taken for any host. (`validIdentityForService` in its IdentityVerification.swift.)
enum ServerIdentity {
    /// The certificate is for somebody else.
    struct Mismatch: Error {}

    /// Fails unless the other side of a connection has a certificate for the host. The connection is then closed.
    static func check(_ channel: any Channel, is host: String) -> EventLoopFuture<Void> {
        let checked = channel.eventLoop.makeCompletedFuture {
            guard let certificate = try channel.pipeline.syncOperations.nioSSL_peerCertificate(),
                isCertificate(certificate, for: host)
            else { throw Mismatch() }
        }
        // NB: AsyncHTTPClient forgets a connection that it is told has failed, and leaves it open. It must not be closed
        // before: a connection that ends by itself is forgotten too, and of one forgotten it must not be told.
        checked.whenFailure { _ in channel.eventLoop.execute { channel.close(promise: nil) } }
        return checked
    }

    /// Whether one of a certificate's alternative names is the host: as an address if it is one, else as a name.
    static func isCertificate(_ certificate: NIOSSLCertificate, for host: String) -> Bool {
        let address = address(host)
        return certificate._subjectAlternativeNames().contains { name in
            switch name.nameType {
            case .ipAddress: address == Array(name.contents)
            case .dnsName: address == nil && isName(String(decoding: name.contents, as: UTF8.self), of: host)
            default: false
            }
        }
    }

    /// Whether a name in a certificate is the host's. Its first part may be a `*`, which is any one part.
    static func isName(_ name: String, of host: String) -> Bool {
        let name = parts(name)
        let host = parts(host)
        guard name.count == host.count, !host.isEmpty, !host.contains("") else { return false }
        guard name[0] == "*" else { return name == host }
        // Not `*.org`: nobody has that.
        return name.count > 2 && name.dropFirst() == host.dropFirst()
    }

    private static func parts(_ name: String) -> [Substring] {
        let name = name.lowercased()
        return (name.hasSuffix(".") ? name.dropLast() : name[...]).split(
            separator: ".", omittingEmptySubsequences: false)
    }

    /// The bytes of an address of IPv4 or IPv6; nil if it is none.
    private static func address(_ host: String) -> [UInt8]? {
        switch try? SocketAddress(ipAddress: host, port: 0) {
        case .v4(let address): withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        default: nil
        }
    }
}
