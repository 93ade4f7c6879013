import Foundation

/// The kinds of pictures that cards can have, recognized by their first bytes.
///
/// The name and the type that a browser or a server claims are not trusted. A picture that is markup, such as an SVG,
/// could contain scripts.
enum PhotoType: String, CaseIterable, Sendable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case gif = "image/gif"
    case webp = "image/webp"
    case avif = "image/avif"
    case heic = "image/heic"

    /// The number of bytes that decide.
    static let headLength = 12

    /// Recognizes a picture by its first bytes.
    init?(_ head: some Collection<UInt8>) {
        let head = Array(head.prefix(Self.headLength))
        func has(_ text: String, at offset: Int) -> Bool { head.dropFirst(offset).starts(with: text.utf8) }
        if head.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if has("GIF87a", at: 0) || has("GIF89a", at: 0) {
            self = .gif
        } else if has("RIFF", at: 0) && has("WEBP", at: 8) {
            self = .webp
        } else if has("ftypavif", at: 4) {
            self = .avif
        } else if has("ftypheic", at: 4) || has("ftypheix", at: 4) || has("ftypmif1", at: 4) {
            self = .heic
        } else {
            return nil
        }
    }

    /// The extension of a file's name.
    var suffix: String { String(rawValue.dropFirst("image/".count)) }
}
