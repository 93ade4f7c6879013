import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The code in the article on attachments.
@Suite(.ownThreads) struct AttachmentsArticleTests {
    @Test func `the article's code equals the tested code`() throws {
        try Snippets.expectTested("Attachments", of: "TandemSync", in: #filePath)
    }

    @Test func `an attachment is sent and downloaded`() async throws {
        let fixture = try PhotoFixture()
        let (store, remote, files, bytes) = (fixture.store, fixture.remote, fixture.fileServer, PhotoFixture.bytes())
        // Attachments begins
        let sync = SyncContext(store: store, remote: remote, files: files)
        let photo = try store.attachments.add(bytes, name: "чек.jpg")
        try await store.write { try $0.insert(Receipt(shop: "Пятёрочка", photo: photo)) }
        let result = try await sync.push()
        for upload in result.uploads where !upload.isFinished { print(upload.attachment.name, upload.outcome) }
        // Attachments ends
        #expect(result.isComplete)
        let (other, context) = try fixture.other()
        try await context.synchronize()
        try await fetch(try #require(try other.objects(Receipt.self).all().first?.photo), other, context, bytes)
    }

    @Test func `the article sends attachments as URL texts`() async throws {
        let fixture = try PhotoFixture()
        let sync = fixture.sync
        // Attachments begins
        try sync.table(Receipt.self).setAttachments(\.photo, as: .urlText)
        // Attachments ends
        let receipt = try fixture.attached()
        #expect(try await sync.push().isComplete)
        #expect(
            fixture.served(try fixture.receipt(receipt.localID))
                == .text(PhotoServer.url(receipt.photo?.id.rawValue ?? "")))
    }

    private func fetch(
        _ photo: Attachment, _ store: Store, _ sync: SyncContext, _ expected: [UInt8]
    ) async throws {
        // Attachments begins
        if try !store.attachments.status(of: photo).isOnDevice { try await sync.download(photo) }
        let bytes = try store.attachments.data(of: photo)
        // Attachments ends
        #expect(Array(bytes) == expected)
    }
}
