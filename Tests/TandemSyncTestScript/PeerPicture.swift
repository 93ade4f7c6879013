import Tandem

/// A file that peers attach. Its bytes are derived from its name and size, so that both sides know them.
package struct PeerPicture: Hashable, Sendable {
    /// A text in each larger file. A file that contains it is unencrypted.
    package static let mark = "КассовыйЧекВОткрытомВиде"

    package let name: String
    package let size: Int

    package init(name: String, size: Int) {
        self.name = name
        self.size = size
    }

    /// Creates the file of an attachment, from its name and size.
    package init(_ attachment: Attachment) {
        self.init(name: attachment.name, size: Int(attachment.size ?? -1))
    }

    /// Creates a file from a text of ``text(of:)``. Returns `nil` for any other text.
    package init?(_ text: some StringProtocol) {
        let sides = text.split(separator: "=")
        guard sides.count == 2, let size = Int(sides[1]) else { return nil }
        self.init(name: String(sides[0]), size: size)
    }

    package var bytes: [UInt8] {
        let line = Array("\(Self.mark) \(name) ".utf8)
        var block: [UInt8] = []
        while block.count < 4096 { block += line }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + block.count + 20)
        var number = 0
        while bytes.count < size {
            // All blocks differ.
            bytes += "\(number) ".utf8
            bytes += block
            number += 1
        }
        bytes.removeLast(bytes.count - size)
        return bytes
    }

    /// Returns the text by which an act describes attachments.
    package static func text(of attachments: [Attachment]) -> String {
        attachments.map { PeerPicture($0) }.map { "\($0.name)=\($0.size)" }.joined(separator: ",")
    }
}
