import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

/// The code of the article on attachments, compiled and run. The lines between the markers are the article's own, which
/// the last test makes sure of.
@Suite(.ownThreads) struct AttachmentsArticleTests {
    // Attachments begins
    @Model struct Card {
        @Folded var shop: String
        var photo: Attachment?
        var scans: [Attachment] = []
    }
    // Attachments ends

    private func attach(_ path: String, to card: Card, in store: Store) throws -> Attachment {
        // Attachments begins
        let photo = try store.attachments.add(contentsOf: path)
        try store.write { try $0.update(Card.self, localID: card.localID) { $0.photo = photo } }
        // Attachments ends
        return photo
    }

    @Test func `a photo is attached, read and queried`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (path, copy) = (folder.path(of: "photo.jpg"), folder.path(of: "copy.jpg"))
        try Data("jpeg".utf8).write(to: URL(fileURLWithPath: path))
        let store = try Store.inMemory(models: Card.self)
        let card = try await store.write { try $0.insert(Card(shop: "Лента")) }
        let photo = try attach(path, to: card, in: store)
        var shown = Data()
        func show(_ piece: Data) { shown += piece }
        // Attachments begins
        let bytes = try store.attachments.data(of: photo)
        for try await piece in try store.attachments.stream(of: photo) { show(piece) }
        let head = try store.attachments.reader(of: photo).read(at: 0, count: 512)
        try store.attachments.export(photo, to: copy)
        // Attachments ends
        let copied = try Data(contentsOf: URL(fileURLWithPath: copy))
        #expect(bytes == shown && bytes == head && bytes == copied)
        func tell(_ reason: String) {}
        // Attachments begins
        let status = try store.attachments.status(of: photo)
        if case .failed(let reason) = status.state { tell(reason) }
        // Attachments ends
        #expect(status.isOnDevice && status.state == .pending)
    }

    @Test func `the article shows this code`() throws {
        let shown = try Snippets.blocks(of: "Sources/Tandem/Tandem.docc/Attachments.md")
        #expect(try shown == Snippets.marked("Attachments", in: #filePath))
    }
}
