import Foundation
import TandemSync

/// Parses the dates of headers: `Sun, 06 Nov 1994 08:49:37 GMT`. The two obsolete formats of RFC 9110 are not
/// supported: the supported servers do not write them.
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns seconds since 1970, or `nil` if the text is not such a date. The name of the day is not checked.
    package static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, parts[0].utf8.count == 4, parts[0].utf8.last == UInt8(ascii: ","), parts[5] == "GMT",
            let month = months.firstIndex(of: parts[2])
        else { return nil }
        var scanner = TimeScanner("\(parts[1]) \(parts[3]) \(parts[4])")
        guard let day = scanner.number(2), scanner.skip(" "), let year = scanner.number(4), scanner.skip(" "),
            let hour = scanner.number(2), scanner.skip(":"), let minute = scanner.number(2), scanner.skip(":"),
            let second = scanner.number(2), scanner.isAtEnd
        else { return nil }
        return WireTime.seconds(
            year: year, month: Int64(month) + 1, day: day, hour: hour, minute: minute, second: second)
    }
}
