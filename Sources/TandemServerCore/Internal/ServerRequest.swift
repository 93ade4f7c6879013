import HTTPTypes

/// A request with its parsed path and query.
struct ServerRequest {
    let http: HTTPRequest
    let body: [UInt8]
    /// The decoded segments of the path.
    let path: [String]
    /// The decoded parameters of the query, in order.
    let query: [(name: String, value: String)]

    /// Returns `nil` if the path or the query is not percent-encoded UTF-8.
    init?(_ http: HTTPRequest, body: [UInt8]) {
        let target = http.path ?? "/"
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path: [String] = []
        for part in (parts.first ?? "").split(separator: "/") {
            guard let name = QueryStringText.decode(part, plusIsSpace: false) else { return nil }
            path.append(name)
        }
        var query: [(name: String, value: String)] = []
        for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = QueryStringText.decode(sides[0], plusIsSpace: true),
                let value = QueryStringText.decode(sides.count > 1 ? sides[1] : "", plusIsSpace: true)
            else { return nil }
            query.append((name, value))
        }
        self.http = http
        self.body = body
        self.path = path
        self.query = query
    }

    func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    func parameter(ignoringCase name: String) -> String? {
        query.first { $0.name.lowercased() == name }?.value
    }

    func header(_ name: HTTPField.Name) -> String? { http.headerFields[name] }

    /// The user's token, from either dialect's header.
    var token: String? {
        if let token = header(.zumoAuthentication) { return token }
        guard let text = header(.authorization), text.lowercased().hasPrefix("bearer ") else { return nil }
        return String(text.dropFirst(7))
    }
}

extension HTTPField.Name {
    /// `X-ZUMO-AUTH`.
    static let zumoAuthentication = Self("x-zumo-auth")!
    /// `ZUMO-API-VERSION`.
    static let zumoVersion = Self("zumo-api-version")!
    /// `X-ZUMO-SERVER-VERSION`.
    static let zumoServerVersion = Self("x-zumo-server-version")!
    static let link = Self("Link")!
}
