/// A server's address: scheme, host, port and base path.
public struct ServerAddress: Hashable, Sendable {
    /// `https` or `http`.
    public let scheme: String
    /// The host in lower case, and the port unless it is the scheme's default.
    public let authority: String
    /// The base path without a trailing slash: empty, or `/api`.
    public let path: String

    /// Parses an address like `https://example.org:8443/api`. Returns `nil` if it is invalid, or has a user, a query or
    /// a fragment.
    public init?(_ text: String) {
        guard let colon = text.range(of: "://") else { return nil }
        scheme = text[..<colon.lowerBound].lowercased()
        let rest = text[colon.upperBound...]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        guard scheme == "https" || scheme == "http", let authority = Self.authority(rest[..<slash], scheme: scheme)
        else {
            return nil
        }
        self.authority = authority
        var path = rest[slash...]
        while path.last == "/" { path = path.dropLast() }
        guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x3F && $0 != 0x23 && $0 != 0x5C }) else {
            return nil
        }
        self.path = String(path)
    }

    /// Returns a host with its port, without the scheme's default port.
    private static func authority(_ text: Substring, scheme: String) -> String? {
        var host = text.lowercased()
        guard host.utf8.allSatisfy({ $0.isAlphanumeric || "-._~:[]%".utf8.contains($0) }), !host.isEmpty,
            host.first != ":"
        else { return nil }
        // An IPv6 address has colons inside its brackets.
        let port = host[(host.lastIndex(of: "]") ?? host.startIndex)...].split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if port.count == 2 {
            guard let number = UInt16(port[1]), number > 0, port[1].utf8.allSatisfy({ $0 != 0x2B }) else { return nil }
            if number == (scheme == "https" ? 443 : 80) { host.removeLast(port[1].utf8.count + 1) }
        }
        return host
    }

    /// Returns whether a link names a host, and is not only a path or a query. A query may contain an address as a
    /// value.
    package static func isWhole(_ link: String) -> Bool {
        guard let colon = link.range(of: "://") else { return link.hasPrefix("//") }
        return link.hasPrefix("//")
            || link[..<colon.lowerBound].utf8.allSatisfy { $0.isAlphanumeric || "+-.".utf8.contains($0) }
    }

    /// Returns whether an absolute address has this scheme, host and port.
    package func hasOrigin(of link: String) -> Bool {
        let text = link.split(whereSeparator: { $0 == "?" || $0 == "#" }).first.map(String.init) ?? ""
        guard let other = ServerAddress(text) else { return false }
        return other.scheme == scheme && other.authority == authority
    }
}

extension ServerAddress: CustomStringConvertible {
    /// The address as a URL.
    public var description: String { "\(scheme)://\(authority)\(path)" }
}
