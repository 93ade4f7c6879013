import HTTPTypes

/// The conditions that a request puts on the row, as Datasync's server reads them.
struct DatasyncPreconditions {
    enum Verdict {
        case goOn
        /// 304: the client has this version.
        case notModified
        /// 412.
        case failed
        /// 500: what the server's own code makes of two tags of which one matches.
        case broken
    }

    /// - Parameter isRead: Whether the request changes nothing.
    static func verdict(_ request: ServerRequest, _ row: ServedRow, isRead: Bool) -> Verdict {
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
        if ifMatch == nil, let time = request.header(.ifUnmodifiedSince).flatMap(WireTime.parseHTTP),
            time <= row.changed
        {
            return .failed
        }
        if ifNoneMatch == nil, let time = request.header(.ifModifiedSince).flatMap(WireTime.parseHTTP),
            time > row.changed
        {
            return isRead ? .notModified : .failed
        }
        return .goOn
    }

    /// Whether the request names a version at all.
    static func hasVersion(_ request: ServerRequest) -> Bool {
        request.header(.ifMatch).flatMap(tags) != nil
    }

    enum Tag {
        case any
        case strong(String)
        /// Never the same as a version.
        case weak

        func matches(_ version: String) -> Bool {
            switch self {
            case .any: true
            case .strong(let tag): tag.utf8.elementsEqual(version.utf8)
            case .weak: false
            }
        }
    }

    /// The tags of a header; nil if it is none that can be read, which is as if it were not there.
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
