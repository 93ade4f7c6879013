/// A file's path as a URI, which can pass parameters to SQLite (https://www.sqlite.org/uri.html).
package enum FileURI {
    package static func of(_ path: String, parameters: [String]) -> String {
        // The text between the second and the third slash would be a host name.
        var uri = path.hasPrefix("/") ? "file://" : "file:"
        // Escape by hand: Foundation needs half a millisecond to create its character sets.
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                uri.unicodeScalars.append(UnicodeScalar(byte))
            default:
                uri += byte < 16 ? "%0" : "%"
                uri += String(byte, radix: 16)
            }
        }
        return uri + "?" + parameters.joined(separator: "&")
    }
}
