import Foundation
import Tandem

extension DemoStory {
    func photograph(_ wallet: Wallet) throws {
        try chapter(
            "Photograph a card",
            words:
                "A picture is copied into the folder beside the store and flushed, before a card refers to it. After a "
                + "crash, no card lacks its picture, and no picture lacks its card. Cards can share a picture; it is "
                + "removed with the last reference."
                + (passphrase == nil ? "" : " It is encrypted, and its name is in the encrypted store alone."))
        let store = wallet.store
        let cards = try store.objects(Card.self).sorted(by: \.shop).offset(110).limit(2).all()
        func picture(_ card: Card) throws -> Data { Data(CardPicture.png(of: try EAN13.checked(card.barcode))) }
        func attach(_ photo: Attachment?, to card: Card) throws {
            _ = try store.write { tx in try tx.update(Card.self, localID: card.localID) { $0.photo = photo } }
        }
        var steps = Table(
            .init(title: "What was done", isFlexible: true), .init(title: "Where the picture is"),
            .init(title: "Files", isNumber: true))
        func note(_ deed: String, of photo: Attachment) throws {
            let place = try PhotoLocation(of: photo, in: store)
            steps.append(.init(deed), .init(place.words), .init(try filesBeside().count.grouped))
        }

        let pictures = try cards.map(picture)
        let first = try store.attachments.add(pictures[0], name: "\(cards[0].shop).png")
        try note("taken, and on no card yet", of: first)
        try attach(first, to: cards[0])
        try note("on \(cards[0].shop)", of: first)
        try attach(first, to: cards[1])
        try note("on \(cards[1].shop) too, the same file", of: first)
        let isShared = try filesBeside().count == 1
        let second = try store.attachments.add(pictures[1], name: "\(cards[1].shop).png")
        try attach(second, to: cards[1])
        try note("another one in its place there", of: second)
        let isKept = try store.attachments.data(of: first) == pictures[0]
        try attach(nil, to: cards[0])
        try note("the first card's taken away", of: second)
        steps.print(on: screen)

        let files = try filesBeside()
        let bytes = try files.first.map { try Data(contentsOf: $0) } ?? Data()
        screen.print("\n  " + screen.paint("The file begins", in: .faint))
        for line in HexDump.lines(bytes.prefix(32)) { screen.print("    \(line)") }
        screen.print()
        let stored = try store.object(ofType: Card.self, forPrimaryKey: cards[1].localID)?.photo
        try check(
            isShared && isKept, sentence: "two cards shared one file, and it stayed while one of them referred to it.")
        try check(
            try files.count == 1 && stored == second && store.attachments.data(of: second) == pictures[1],
            sentence: "the file without a card is removed, and the other one is byte for byte the taken picture.")
        let isPNG = bytes.starts(with: pictures[1].prefix(8))
        try check(
            isPNG == (passphrase == nil),
            sentence: passphrase == nil
                ? "in a plain store it is the picture itself." : "in an encrypted store it is noise.")
        let waiting = try PhotoLocation(of: second, in: store).isWaiting
        try check(waiting, sentence: "it is uploaded once its card is on a server.")
    }

    /// Returns the files in the folder beside the store.
    private func filesBeside() throws -> [URL] { try Self.files(in: URL(fileURLWithPath: path + "-files")) }

    /// Returns the files in a store's folder of files.
    static func files(in folder: URL) throws -> [URL] {
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        return try (all?.compactMap { $0 as? URL } ?? []).filter { file in
            // The names of lock files begin with a dot.
            try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
                && !file.lastPathComponent.hasPrefix(".")
        }
    }
}
