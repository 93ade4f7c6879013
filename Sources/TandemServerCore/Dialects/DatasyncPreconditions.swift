import HTTPTypes

/// Evaluates a request's preconditions as Datasync's server does.
struct DatasyncPreconditions {
    enum Verdict {
        case goOn
        /// 304: the client has the current version.
        case notModified
        /// 412.
        case failed
        /// 500: the original server fails if one of two tags matches.
        case broken
    }

    /// Evaluates the preconditions of a request on a row.
    ///
    /// - Parameter isRead: Whether the request only reads.
    static func verdict(_ request: ServerRequest, row: ServedRow, isRead: Bool) -> Verdict {
        let ifMatch = request.header(.ifMatch).flatMap(tags)
        let ifNoneMatch = request.header(.ifNoneMatch).flatMap(tags)
        if let ifMatch {
            let matching = ifMatch.filter { $0.matches(row.stamp) }.count
            if matching == 0 { return .failed }
            if ifMatch.count > 1 { return .broken }
        }
        if let ifNoneMatch, ifNoneMatch.contains(where: { $0.matches(row.stamp) }) {
            return isRead ? .notModified : .failed
        }
        if ifMatch == nil, let time = request.header(.ifUnmodifiedSince).flatMap(WireDateText.parseHTTP),
            time <= row.changed
        {
            return .failed
        }
        if ifNoneMatch == nil, let time = request.header(.ifModifiedSince).flatMap(WireDateText.parseHTTP),
            time > row.changed
        {
            return isRead ? .notModified : .failed
        }
        return .goOn
    }

    enum Tag {
        case any
        case strong(String)
        /// A weak tag, which equals no version.
        case weak

        func matches(_ version: String) -> Bool {
            switch self {
            case .any: true
            case .strong(let tag): tag.utf8.elementsEqual(version.utf8)
            case .weak: false
            }
        }
    }

    /// Parses the tags of a header. Returns `nil` for an invalid header, which is ignored.
    private static func tags(_ text: String) -> [Tag]? {
        var rest = Substring(text)
        var tags: [Tag] = []
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
            guard let first = rest.first else { return tags.isEmpty ? nil : tags }
            if first == "*" {
                tags.append(.any)
                rest.removeFirst()
                continue
            }
            let isWeak = rest.hasPrefix("W/")
            if isWeak { rest.removeFirst(2) }
            guard rest.popFirst() == "\"", let end = rest.firstIndex(of: "\"") else { return nil }
            tags.append(isWeak ? .weak : .strong(String(rest[..<end])))
            rest = rest[rest.index(after: end)...]
        }
    }
}
