import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// An update that has nothing to send before its file's upload is not sent.
@Suite(.ownThreads) struct NeedlessUpdateTests {
    private func attach(
        _ fixture: PhotoFixture, _ id: LocalID, _ change: @escaping @Sendable (inout Receipt) -> Void = { _ in }
    ) async throws -> Attachment {
        let photo = try fixture.store.attachments.add(PhotoFixture.bytes(), name: "чек.jpg")
        try await fixture.store.write { tx in
            _ = try tx.update(Receipt.self, localID: id) { receipt in
                receipt.photo = photo
                change(&receipt)
            }
        }
        return photo
    }

    @Test func `a file attached to a synced object makes one update after the upload`() async throws {
        let fixture = try PhotoFixture()
        let id = try await fixture.synced().localID
        let photo = try await attach(fixture, id) { $0.scans = [] }
        let result = try await fixture.sync.push()
        #expect(fixture.asked == [.update])
        #expect(result.isComplete && result.entries.count == 1 && result.uploads.count == 1)
        let here = try fixture.receipt(id)
        #expect(here.isSynced && here.photo?.id == photo.id)
        #expect(fixture.served(here) == here.photo?.__json)
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `a file added to a list makes one update, and other changes are sent at once`() async throws {
        let fixture = try PhotoFixture()
        let id = try await fixture.synced().localID
        for number in 1...3 {
            let scan = try fixture.store.attachments.add(PhotoFixture.bytes(seed: UInt8(number)), name: "\(number).jpg")
            try await fixture.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.scans.append(scan) } }
            try await fixture.sync.push()
            #expect(fixture.asked == Array(repeating: .update, count: number))
        }
        fixture.remote.forgetRequests()
        _ = try await attach(fixture, id) { $0.points = 7 }
        try await fixture.sync.push()
        #expect(fixture.asked == [.update, .update])
        // A replaced file stays on the server until the upload.
        fixture.remote.forgetRequests()
        _ = try await attach(fixture, id)
        try await fixture.sync.push()
        #expect(fixture.asked == [.update])
        #expect(try fixture.receipt(id).isSynced)
    }

    @Test func `an update waits in the queue until its file is uploaded`() async throws {
        let fixture = try PhotoFixture()
        let id = try await fixture.synced().localID
        let photo = try await attach(fixture, id)
        let context = fixture.restarted(withFiles: false)
        let result = try await context.push()
        #expect(result.entries.isEmpty && fixture.asked.isEmpty)
        #expect(try fixture.store.operations.count() == 0)
        #expect(try !fixture.receipt(id).isSynced)
        #expect(try await context.state(of: fixture.receipt(id)) == .waitingForFiles(1, reason: nil))
        try await context.pull(Receipt.self)
        #expect(try fixture.receipt(id).photo == photo)
        #expect(try fixture.store.checkIntegrity() == [])
        // A change of another property is sent, with null in place of the file.
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.points = 3 } }
        try await context.push()
        #expect(try fixture.receipt(id).photo == photo)
        #expect(try !fixture.receipt(id).isSynced)
        try await fixture.sync.push()
        #expect(try fixture.receipt(id).isSynced)
        #expect(fixture.served(try fixture.receipt(id)) == (try fixture.receipt(id)).photo?.__json)
    }

    @Test func `a file that is attached and removed again is not sent, and its object is synced`() async throws {
        let fixture = try PhotoFixture()
        let id = try await fixture.synced().localID
        _ = try await attach(fixture, id)
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.photo = nil } }
        try await fixture.sync.push()
        #expect(fixture.asked.isEmpty && fixture.fileServer.requests.isEmpty)
        #expect(try fixture.receipt(id).isSynced)
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `an update that may have arrived is sent again`() async throws {
        let fixture = try PhotoFixture()
        let id = try await fixture.synced().localID
        let there = Attachment(atServerURL: "https://a.example/1.jpg")
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.scans = [there] } }
        fixture.remote.next(.loseResponse, on: .update)
        let context = fixture.restarted(withFiles: false)
        try await context.attemptPush()
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.scans = [] } }
        _ = try await attach(fixture, id)
        try await context.push()
        #expect(fixture.served(try fixture.receipt(id), "scans") == .array([]))
        try await fixture.sync.push()
        #expect(try fixture.receipt(id).isSynced)
        #expect(fixture.served(try fixture.receipt(id)) != .null)
    }

    @Test func `a failed upload leaves no update behind`() async throws {
        let fixture = try PhotoFixture()
        let id = try await fixture.synced().localID
        _ = try await attach(fixture, id)
        fixture.fileServer.next("upload", .fail(.refused(status: 403, message: "No.")))
        try await fixture.sync.push()
        #expect(fixture.asked.isEmpty)
        guard case .waitingForFiles(1, _?)? = try await fixture.sync.state(of: fixture.receipt(id)) else {
            Issue.record("\(String(describing: try await fixture.sync.state(of: fixture.receipt(id))))")
            return
        }
        try await fixture.sync.push()
        #expect(fixture.asked == [.update])
        #expect(try fixture.receipt(id).isSynced)
    }

    @Test func `a removed file is sent even if the server writes URLs itself`() async throws {
        let fixture = try PhotoFixture { $0.serverSetsFileURLs = true }
        let receipt = try fixture.attached()
        try await fixture.restarted(withFiles: false).push()
        fixture.remote.forgetRequests()
        // The server has the file and has written its URL. The response was lost.
        fixture.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { item in
            item.put("photo", Attachment(atServerURL: "https://shelf.example/there").__json)
        }
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = nil } }
        try await fixture.sync.push()
        #expect(fixture.asked.contains(.update))
    }
}
