import NIOCore
import NIOSSL

/// Checks that a server's trusted certificate is for the requested host.
///
/// NB: NIOSSL accepts a certificate for an IP address if the connection leads to that address. It does so even if the
/// host was requested by name. An attacker with a certificate for their own address who controls DNS or the proxy could
/// impersonate any host. (`validIdentityForService` in its IdentityVerification.swift.)
enum ServerIdentity {
    /// The certificate is for another host.
    struct Mismatch: Error {}

    /// Fails unless the peer of a connection has a certificate for the host. The failure closes the connection.
    static func check(_ channel: any Channel, is host: String) -> EventLoopFuture<Void> {
        let checked = channel.eventLoop.makeCompletedFuture {
            guard let certificate = try channel.pipeline.syncOperations.nioSSL_peerCertificate(),
                isCertificate(certificate, for: host)
            else { throw Mismatch() }
        }
        // NB: AsyncHTTPClient forgets a connection that reports a failure, and leaves it open. The close must come
        // after the report: a closed connection is forgotten too, and a forgotten one must not report.
        checked.whenFailure { _ in channel.eventLoop.execute { channel.close(promise: nil) } }
        return checked
    }

    /// Returns whether an alternative name of a certificate is the host. An address is compared as an address, all else
    /// as a name.
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

    /// Returns whether a certificate's name matches the host. A `*` as the first label matches any one label.
    static func isName(_ name: String, of host: String) -> Bool {
        let name = parts(name)
        let host = parts(host)
        guard name.count == host.count, !host.isEmpty, !host.contains("") else { return false }
        guard name[0] == "*" else { return name == host }
        // Rejects `*.org`: no owner has all of it.
        return name.count > 2 && name.dropFirst() == host.dropFirst()
    }

    private static func parts(_ name: String) -> [Substring] {
        let name = name.lowercased()
        return (name.hasSuffix(".") ? name.dropLast() : name[...]).split(
            separator: ".", omittingEmptySubsequences: false)
    }

    /// Returns the bytes of an IPv4 or IPv6 address, or `nil` for other texts.
    private static func address(_ host: String) -> [UInt8]? {
        switch try? SocketAddress(ipAddress: host, port: 0) {
        case .v4(let address): withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        default: nil
        }
    }
}
