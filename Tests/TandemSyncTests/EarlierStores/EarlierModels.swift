import Foundation
import Tandem

// The models of the stores in `Fixtures`. The generator compiles this file with an earlier version of Tandem, so use
// only what both versions have.

@Model struct Author {
    @Folded var name: String
    var born: Date?
}

@Model struct Volume {
    @Folded var title: String
    @Unique var code: String
    var price: Decimal = 0
    var weight: Double = 0
    var pages: Int = 0
    var published: Date?
    var isOut: Bool = false
    var words: [String] = []
    var owners: [String: Int] = [:]
    var author: Reference<Author>?
    var editors: [Reference<Author>] = []
    var cover: Attachment?
    @LocalOnly var place: String = ""
}

@Model(.localOnly) struct Reading {
    var volume: Reference<Volume>?
    var page: Int = 0
    @Folded var note: String = ""
}

/// The expected values in these stores.
enum EarlierValues {
    /// The time at which the stores were written.
    static let date = Date(timeIntervalSince1970: 1_795_000_000)
    static let passphrase = "Съешь же ещё этих мягких булок"
    static let rawKey = (0..<32).map { UInt8($0) }
    static let coverID = "00c0ffee00c0ffee00c0ffee00c0ffee"
    static let cover = bytes(1500, seed: 3)

    static func bytes(_ count: Int, seed: UInt8) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(seed)) }
    }
}
