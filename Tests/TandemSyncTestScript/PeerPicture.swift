import Tandem

/// A file that peers attach. Its bytes follow from its name and its size, so that both sides know them.
package struct PeerPicture: Hashable, Sendable {
    /// Stands in each file of some size: where it is found, the file lies in the clear.
    package static let mark = "КассовыйЧекВОткрытомВиде"

    package let name: String
    package let size: Int

    package init(name: String, size: Int) {
        self.name = name
        self.size = size
    }

    /// The file of an attachment, as its name and its size have it.
    package init(_ attachment: Attachment) {
        self.init(name: attachment.name, size: Int(attachment.size ?? -1))
    }

    /// One from a text of ``text(of:)``'s; `nil` if it is none.
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
            // No block is as another.
            bytes += "\(number) ".utf8
            bytes += block
            number += 1
        }
        bytes.removeLast(bytes.count - size)
        return bytes
    }

    /// What an act says of some attachments.
    package static func text(of attachments: [Attachment]) -> String {
        attachments.map { PeerPicture($0) }.map { "\($0.name)=\($0.size)" }.joined(separator: ",")
    }
}
