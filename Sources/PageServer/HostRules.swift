/// The names by which this server may be addressed.
///
/// A page of another site can let its own name resolve to 127.0.0.1 (DNS rebinding). The browser then sends the page's
/// requests here, with that name in `Host`. A server that accepts only its own names is safe from that.
public struct HostRules: Sendable {
    /// Whether the server listens on loopback only.
    private let isLoopback: Bool
    /// The accepted names beside addresses, in lower case.
    private let names: Set<String>

    /// Creates the rules of a server.
    ///
    /// - Parameters:
    ///   - host: The address on which the server listens.
    ///   - names: More names of this machine, such as `till.local`.
    public init(listeningOn host: String, names: [String] = []) {
        isLoopback = Self.isLoopback(host)
        self.names = Set((names + ["localhost"]).map { $0.lowercased() })
    }

    /// Returns whether a server on a host accepts connections from this machine only.
    public static func isLoopback(_ host: String) -> Bool {
        ["localhost", "127.0.0.1", "::1"].contains(host)
    }

    /// Returns a host as it appears in a URL: an IPv6 address in brackets.
    public static func inURL(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    /// Returns whether the authority of a request is one of this server's: a name, or an address, with any port.
    ///
    /// Addresses are safe: the name of a rebinding attack is a name.
    public func accepts(_ authority: String?) -> Bool {
        guard let authority, let host = Self.host(of: authority) else { return false }
        if names.contains(host) { return true }
        if isLoopback { return host == "127.0.0.1" || host == "[::1]" }
        return Self.isAddress(host)
    }

    /// Returns whether the `Origin` of a request is the site that the request addresses.
    public static func isSameOrigin(_ origin: String, authority: String?) -> Bool {
        guard let authority else { return false }
        return origin == "http://\(authority)" || origin == "https://\(authority)"
    }

    /// Returns the host of an authority in lower case, without the port.
    private static func host(of authority: String) -> String? {
        guard authority.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let text = authority.lowercased()
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let rest = text[text.index(after: end)...]
            return rest.isEmpty || isPort(rest) ? String(text[...end]) : nil
        }
        guard let colon = text.firstIndex(of: ":") else { return text.isEmpty ? nil : text }
        return isPort(text[colon...]) ? String(text[..<colon]) : nil
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && text.count > 1 && text.count <= 6 && text.dropFirst().allSatisfy { "0"..."9" ~= $0 }
    }

    private static func isAddress(_ host: String) -> Bool {
        if host.hasPrefix("[") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}
