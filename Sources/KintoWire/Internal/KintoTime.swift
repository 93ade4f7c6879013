import Tandem
import TandemSync

/// A conversion between `last_modified`, in milliseconds since 1970, and the times and versions of items.
enum KintoTime {
    /// Returns the time of a record; `nil` if it is not in the years 1970 to 9999.
    static func timestamp(_ milliseconds: Int64) -> WireTimestamp? {
        guard milliseconds >= 0 else { return nil }
        return WireTimestamp(
            seconds: milliseconds / 1000, nanoseconds: milliseconds % 1000 * 1_000_000, fractionDigits: 3)
    }

    /// Returns the first millisecond that is not before a time.
    static func milliseconds(from time: WireTimestamp) -> Int64 {
        time.seconds * 1000 + (time.nanoseconds + 999_999) / 1_000_000
    }

    /// Returns the milliseconds in an entity tag, with or without its quotes: `"1795613368732"`.
    static func milliseconds(inTag tag: String) -> Int64? {
        var text = tag[...]
        if text.first == "\"", text.last == "\"", text.utf8.count >= 2 { text = text.dropFirst().dropLast() }
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
