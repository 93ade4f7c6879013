import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// An update that has nothing to send before its file's upload is not sent.
@Suite(.ownThreads) struct NeedlessUpdateTests {
    private func attach(
        _ desk: PhotoFixture, _ id: LocalID, _ change: @escaping @Sendable (inout Receipt) -> Void = { _ in }
    ) async throws -> Tandem.Attachment {
        let photo = try desk.store.attachments.add(PhotoFixture.bytes(), name: "чек.jpg")
        try await desk.store.write { tx in
            _ = try tx.update(Receipt.self, localID: id) { receipt in
                receipt.photo = photo
                change(&receipt)
            }
        }
        return photo
    }

    @Test func `a file attached to a synced object makes one update after the upload`() async throws {
        let desk = try PhotoFixture()
        let id = try await desk.synced().localID
        let photo = try await attach(desk, id) { $0.scans = [] }
        let result = try await desk.sync.push()
        #expect(desk.asked == [.update])
        #expect(result.isComplete && result.entries.count == 1 && result.uploads.count == 1)
        let here = try desk.receipt(id)
        #expect(here.isSynced && here.photo?.id == photo.id)
        #expect(desk.served(here) == here.photo?.__json)
        #expect(try desk.store.checkIntegrity() == [])
    }

    @Test func `a file added to a list makes one update, and other changes are sent at once`() async throws {
        let desk = try PhotoFixture()
        let id = try await desk.synced().localID
        for number in 1...3 {
            let scan = try desk.store.attachments.add(PhotoFixture.bytes(seed: UInt8(number)), name: "\(number).jpg")
            try await desk.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.scans.append(scan) } }
            try await desk.sync.push()
            #expect(desk.asked == Array(repeating: .update, count: number))
        }
        desk.remote.forgetRequests()
        _ = try await attach(desk, id) { $0.points = 7 }
        try await desk.sync.push()
        #expect(desk.asked == [.update, .update])
        // A replaced file stays on the server until the upload.
        desk.remote.forgetRequests()
        _ = try await attach(desk, id)
        try await desk.sync.push()
        #expect(desk.asked == [.update])
        #expect(try desk.receipt(id).isSynced)
    }

    @Test func `an update waits in the queue until its file is uploaded`() async throws {
        let desk = try PhotoFixture()
        let id = try await desk.synced().localID
        let photo = try await attach(desk, id)
        let context = desk.restarted(withFiles: false)
        let result = try await context.push()
        #expect(result.entries.isEmpty && desk.asked.isEmpty)
        #expect(try desk.store.operations.count() == 0)
        #expect(try !desk.receipt(id).isSynced)
        #expect(try await context.state(of: desk.receipt(id)) == .waitingForFiles(1, reason: nil))
        try await context.pull(Receipt.self)
        #expect(try desk.receipt(id).photo == photo)
        #expect(try desk.store.checkIntegrity() == [])
        // A change of another property is sent, with null in place of the file.
        try await desk.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.points = 3 } }
        try await context.push()
        #expect(try desk.receipt(id).photo == photo)
        #expect(try !desk.receipt(id).isSynced)
        try await desk.sync.push()
        #expect(try desk.receipt(id).isSynced)
        #expect(desk.served(try desk.receipt(id)) == (try desk.receipt(id)).photo?.__json)
    }

    @Test func `a file that is attached and removed again is not sent, and its object is synced`() async throws {
        let desk = try PhotoFixture()
        let id = try await desk.synced().localID
        _ = try await attach(desk, id)
        try await desk.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.photo = nil } }
        try await desk.sync.push()
        #expect(desk.asked.isEmpty && desk.shelf.requests.isEmpty)
        #expect(try desk.receipt(id).isSynced)
        #expect(try desk.store.checkIntegrity() == [])
    }

    @Test func `an update that may have arrived is sent again`() async throws {
        let desk = try PhotoFixture()
        let id = try await desk.synced().localID
        let there = Attachment(atServerURL: "https://a.example/1.jpg")
        try await desk.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.scans = [there] } }
        desk.remote.next(.loseAnswer, on: .update)
        let context = desk.restarted(withFiles: false)
        try await context.attemptPush()
        try await desk.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.scans = [] } }
        _ = try await attach(desk, id)
        try await context.push()
        #expect(desk.served(try desk.receipt(id), "scans") == .array([]))
        try await desk.sync.push()
        #expect(try desk.receipt(id).isSynced)
        #expect(desk.served(try desk.receipt(id)) != .null)
    }

    @Test func `a failed upload leaves no update behind`() async throws {
        let desk = try PhotoFixture()
        let id = try await desk.synced().localID
        _ = try await attach(desk, id)
        desk.shelf.next("upload", .fail(.refused(status: 403, message: "No.")))
        try await desk.sync.push()
        #expect(desk.asked.isEmpty)
        guard case .waitingForFiles(1, _?)? = try await desk.sync.state(of: desk.receipt(id)) else {
            Issue.record("\(String(describing: try await desk.sync.state(of: desk.receipt(id))))")
            return
        }
        try await desk.sync.push()
        #expect(desk.asked == [.update])
        #expect(try desk.receipt(id).isSynced)
    }

    @Test func `a removed file is sent even if the server writes URLs itself`() async throws {
        let desk = try PhotoFixture { $0.serverSetsFileURLs = true }
        let receipt = try desk.attached()
        try await desk.restarted(withFiles: false).push()
        desk.remote.forgetRequests()
        // The server has the file and has written its URL. The response was lost.
        desk.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { item in
            item.put("photo", Attachment(atServerURL: "https://shelf.example/there").__json)
        }
        try await desk.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = nil } }
        try await desk.sync.push()
        #expect(desk.asked.contains(.update))
    }
}
