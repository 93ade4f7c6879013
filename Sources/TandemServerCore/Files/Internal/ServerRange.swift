/// Parses byte ranges in header fields, by RFC 9110.
enum ServerRange {
    /// The range that a request asks for.
    enum Asked: Equatable {
        case all
        case bytes(Range<Int64>)
        case unsatisfiable
    }

    /// Parses `Range` for a file of some size. Several ranges, another unit and invalid ranges count as the whole file:
    /// the RFC lets a server ignore them.
    static func asked(_ text: String, size: Int64) -> Asked {
        guard text.lowercased().hasPrefix("bytes=") else { return .all }
        let sides = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return .all }
        if sides[0].isEmpty {
            guard let count = number(sides[1]) else { return .all }
            return count > 0 && size > 0 ? .bytes(max(0, size - count)..<size) : .unsatisfiable
        }
        guard let first = number(sides[0]) else { return .all }
        if sides[1].isEmpty { return first < size ? .bytes(first..<size) : .unsatisfiable }
        guard let last = number(sides[1]), last >= first else { return .all }
        return first < size ? .bytes(first..<min(size, last + 1)) : .unsatisfiable
    }

    /// Parses `Content-Range`: `bytes 0-99/200`. Returns `nil` if it is invalid or has no size.
    static func sent(_ text: String) -> (bytes: Range<Int64>, size: Int64)? {
        guard text.lowercased().hasPrefix("bytes ") else { return nil }
        let sides = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2, let size = number(sides[1]) else { return nil }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]), first <= last, last < size
        else { return nil }
        return (first..<last + 1, size)
    }

    /// Parses digits. Limits their number so that adding one can't overflow.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
