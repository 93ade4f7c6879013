import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// An unneeded file is not uploaded, and leaves no traces.
@Suite(.ownThreads) struct DroppedFileTests {
    @Test func `a photograph replaced before its upload is never sent`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        let second = try fixture.store.attachments.add([9, 9, 9], name: "2.jpg")
        try await fixture.store.write {
            _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = second }
        }
        try await fixture.sync.push()
        #expect(fixture.fileServer.requests == ["upload \(second.id)"])
        #expect(fixture.isGone(try #require(receipt.photo)))
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `an object deleted before its upload sends nothing`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        try await fixture.restarted(withFiles: false).push()
        try await fixture.store.write { _ = try $0.delete(try fixture.receipt(receipt.localID)) }
        // Until the server has acknowledged the delete, an undelete finds the file.
        #expect(!fixture.isGone(try #require(receipt.photo)))
        try await fixture.sync.push()
        #expect(fixture.fileServer.requests.isEmpty)
        #expect(fixture.isGone(try #require(receipt.photo)))
    }

    @Test func `an upload is cancelled if its photograph is replaced meanwhile`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        let store = fixture.store
        let second = try store.attachments.add([9, 9, 9], name: "2.jpg")
        let once = Counter()
        fixture.fileServer.whileUploading {
            guard once.next() == 1 else { return }
            try? await store.write { tx in
                _ = try tx.update(Receipt.self, localID: receipt.localID) { $0.photo = second }
            }
            while !Task.isCancelled { await Task.yield() }
        }
        let result = try await fixture.sync.push()
        guard case .dropped? = result.uploads.first?.outcome else {
            Issue.record("\(result.uploads)")
            return
        }
        try await fixture.sync.push()
        #expect(Array(fixture.fileServer.files.keys) == [PhotoServer.url(second.id.rawValue)])
        #expect(try fixture.receipt(receipt.localID).isSynced)
        #expect(fixture.isGone(try #require(receipt.photo)))
    }

    @Test func `a file whose upload was no longer needed is deleted on the server`() async throws {
        let log = Log()
        let (box, photo) = (Box(), Box())
        let fixture = try PhotoFixture {
            $0.onFileStep = { step in
                guard case .responded = step, log.lines.isEmpty, let store = box.store, let id = photo.id else {
                    return
                }
                log.note("dropped")
                try await store.write { tx in _ = try tx.update(Receipt.self, localID: id) { $0.photo = nil } }
            }
        }
        let receipt = try fixture.attached()
        box.set(fixture.store, nil)
        photo.set(nil, receipt.localID)
        let result = try await fixture.sync.push()
        guard case .dropped? = result.uploads.first?.outcome else {
            Issue.record("\(result.uploads)")
            return
        }
        #expect(fixture.fileServer.files.isEmpty)
        #expect(fixture.fileServer.requests.last?.hasPrefix("delete ") == true)
        try await fixture.sync.push()
        #expect(try fixture.receipt(receipt.localID).isSynced)
    }

    @Test func `files of a deleted object are deleted on the server if the option is set`() async throws {
        for deletes in [true, false] {
            let fixture = try PhotoFixture { $0.deletesFiles = deletes }
            let receipt = try fixture.attached()
            try await fixture.sync.push()
            try await fixture.store.write { _ = try $0.delete(try fixture.receipt(receipt.localID)) }
            try await fixture.sync.push()
            #expect(fixture.fileServer.files.isEmpty == deletes)
            #expect(fixture.isGone(try #require(receipt.photo)))
        }
    }

    @Test func `a file that another object names stays on the server until that object is deleted`() async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try fixture.attached()
        let copy = try await fixture.store.write { try $0.insert(Receipt(shop: "копия", photo: receipt.photo)) }
        try await fixture.sync.push()
        #expect(fixture.fileServer.requests.count == 1)
        try await fixture.store.write { _ = try $0.delete(try fixture.receipt(receipt.localID)) }
        try await fixture.sync.push()
        #expect(fixture.fileServer.files.count == 1)
        try await fixture.store.write { _ = try $0.delete(try fixture.receipt(copy.localID)) }
        try await fixture.sync.push()
        #expect(fixture.fileServer.files.isEmpty)
        #expect(try await !fixture.sync.hasToSend())
    }

    @Test func `a file stays on the server if its other object only left this device`() async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try fixture.attached()
        try await fixture.store.write { try $0.insert(Receipt(shop: "копия", photo: receipt.photo)) }
        try await fixture.sync.push()
        try await fixture.store.write { _ = try $0.delete(try fixture.receipt(receipt.localID)) }
        try await fixture.sync.push()
        // The server has the copy, and this device no longer has it.
        try await fixture.sync.purge(Receipt.self)
        try await fixture.sync.push()
        #expect(fixture.fileServer.files.count == 1)
        #expect(try await !fixture.sync.hasToSend())
    }

    @Test func `a queued file deletion is cancelled if an object names the file again`() async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try fixture.attached()
        try await fixture.sync.push()
        let photo = try #require(try fixture.receipt(receipt.localID).photo)
        try await fixture.store.write { _ = try $0.delete(try fixture.receipt(receipt.localID)) }
        fixture.fileServer.next("delete", .fail(.unreachable))
        try await fixture.sync.attemptPush()
        #expect(try await fixture.sync.hasToSend())
        // A colleague has copied it.
        fixture.remote.edit("Receipt", id: "theirs") { item in
            item.put("shop", .text("копия"))
            item.put("photo", photo.__json)
        }
        try await fixture.sync.pull(Receipt.self, queryID: "all")
        try await fixture.sync.purge(Receipt.self)
        try await fixture.sync.push()
        #expect(fixture.fileServer.files.count == 1)
        #expect(try await !fixture.sync.hasToSend())
    }

    @Test func `a photograph replaced by another client is deleted on the server if the option is set`()
        async throws
    {
        for deletes in [true, false] {
            let fixture = try PhotoFixture { $0.deletesFiles = deletes }
            let first = try fixture.attached()
            let scan = try fixture.store.attachments.add([1], name: "1")
            try await fixture.store.write {
                _ = try $0.update(Receipt.self, localID: first.localID) { $0.scans = [scan] }
            }
            try await fixture.sync.push()
            let second = try fixture.store.attachments.add([9, 9, 9], name: "2.jpg")
            try await fixture.store.write { tx in
                _ = try tx.update(Receipt.self, localID: first.localID) { receipt in
                    receipt.photo = second
                    receipt.scans = []
                }
            }
            let result = try await fixture.sync.push()
            #expect(result.isComplete)
            // A client that adds to a list sends the whole list that it knows.
            #expect(fixture.fileServer.files.count == (deletes ? 2 : 3))
            let gone = PhotoServer.url(try #require(first.photo).id.rawValue)
            #expect((fixture.fileServer.files[gone] == nil) == deletes)
            #expect(try await !fixture.sync.hasToSend())
        }
    }

    @Test func `a photograph that is put back during its removal stays on the server`() async throws {
        let log = Log()
        let box = Box()
        let fixture = try PhotoFixture {
            $0.deletesFiles = true
            $0.onPushStep = { step in
                guard case .responded = step, let store = box.store, let id = box.id, log.lines.isEmpty else { return }
                log.note("back")
                try await store.write { tx in
                    let photo = try tx.objects(Receipt.self).all().first { $0.localID != id }?.photo
                    _ = try tx.update(Receipt.self, localID: id) { $0.photo = photo }
                }
            }
        }
        let receipt = try fixture.attached()
        let copy = try await fixture.store.write { try $0.insert(Receipt(shop: "копия", photo: receipt.photo)) }
        try await fixture.sync.push()
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = nil } }
        box.set(fixture.store, receipt.localID)
        try await fixture.sync.push()
        #expect(log.lines == ["back"])
        try await fixture.store.write { _ = try $0.delete(try fixture.receipt(copy.localID)) }
        try await fixture.sync.push()
        #expect(fixture.fileServer.files.count == 1)
        #expect(try fixture.receipt(receipt.localID).photo?.serverURL != nil)
    }

    @Test func `a file that a rejected change would restore is not deleted`() async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try fixture.attached()
        let copy = try await fixture.store.write { try $0.insert(Receipt(shop: "копия", photo: receipt.photo)) }
        try await fixture.sync.push()
        try await fixture.store.write { tx in
            for id in [receipt.localID, copy.localID] {
                _ = try tx.update(Receipt.self, localID: id) { $0.photo = nil }
            }
        }
        let operation = try #require(try fixture.store.operations.all().last { $0.localID == copy.localID })
        try await fixture.sync.hold(operation.id)
        try await fixture.sync.push()
        #expect(fixture.fileServer.files.count == 1)
        try await fixture.sync.discard(operation.id)
        try await fixture.sync.push()
        let photo = try #require(try fixture.receipt(copy.localID).photo)
        try await fixture.sync.download(photo)
        #expect(try Array(fixture.store.attachments.data(of: photo)) == PhotoFixture.bytes())
    }

    @Test(arguments: [RemoteFault.loseResponse, .loseRequest])
    func `files of an object are deleted if the response to its delete was lost`(fault: RemoteFault) async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try fixture.attached()
        try await fixture.sync.push()
        let second = try fixture.store.attachments.add([9, 9, 9], name: "2.jpg")
        try await fixture.store.write {
            _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = second }
        }
        fixture.remote.next(fault, on: .update)
        try await fixture.sync.attemptPush()
        try await fixture.sync.push()
        #expect(Array(fixture.fileServer.files.keys) == [PhotoServer.url(second.id.rawValue)])
        try await fixture.store.write { _ = try $0.delete(try fixture.receipt(receipt.localID)) }
        fixture.remote.next(fault, on: .delete)
        try await fixture.sync.attemptPush()
        try await fixture.sync.push()
        #expect(fixture.fileServer.files.isEmpty)
        #expect(try await !fixture.sync.hasToSend())
    }

    @Test func `the old file is deleted if its object is deleted before the new photograph was sent`()
        async throws
    {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try fixture.attached()
        try await fixture.sync.push()
        let second = try fixture.store.attachments.add([9, 9, 9], name: "2.jpg")
        try await fixture.store.write {
            _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = second }
        }
        try await fixture.store.write { _ = try $0.delete(try fixture.receipt(receipt.localID)) }
        try await fixture.sync.push()
        #expect(fixture.fileServer.files.isEmpty)
    }

    @Test func `a deleted object stops its upload, and an undelete resumes it`()
        async throws
    {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        let store = fixture.store
        let once = Counter()
        fixture.fileServer.whileUploading {
            guard once.next() == 1 else { return }
            try? await store.write { tx in
                guard let live = try tx.object(ofType: Receipt.self, forPrimaryKey: receipt.localID) else { return }
                _ = try tx.delete(live)
                // Otherwise it would be sent beside the upload, and could not be restored.
                for operation in try tx.operations(after: nil, limit: 10) { try tx.sync.hold(operation.id) }
            }
            while !Task.isCancelled { await Task.yield() }
        }
        let result = try await fixture.sync.push()
        guard case .dropped? = result.uploads.first?.outcome else {
            Issue.record("\(result.uploads)")
            return
        }
        #expect(fixture.fileServer.files.isEmpty)
        let photo = try #require(receipt.photo)
        #expect(try store.attachments.status(of: photo).state == .pending)
        try await store.write { _ = try $0.undelete(Receipt.self, localID: receipt.localID) }
        try await fixture.sync.push()
        #expect(fixture.fileServer.files.count == 1)
        #expect(try fixture.receipt(receipt.localID).isSynced)
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: [false, true])
    func `a file uploaded for a deleted object is deleted unless it existed before`(
        wasThere: Bool
    ) async throws {
        let log = Log()
        let box = Box()
        let fixture = try PhotoFixture {
            $0.onFileStep = { step in
                guard case .responded = step, let store = box.store, let id = box.id, log.lines.isEmpty else { return }
                log.note("deleted")
                try await store.write { tx in
                    if let live = try tx.object(ofType: Receipt.self, forPrimaryKey: id) { _ = try tx.delete(live) }
                    for operation in try tx.operations(after: nil, limit: 10) { try tx.sync.hold(operation.id) }
                }
            }
        }
        let receipt = try fixture.attached()
        box.set(fixture.store, receipt.localID)
        let photo = try #require(receipt.photo)
        if wasThere { fixture.fileServer.put(PhotoFixture.bytes(), at: PhotoServer.url(photo.id.rawValue)) }
        try await fixture.sync.push()
        #expect(log.lines == ["deleted"])
        #expect(fixture.fileServer.files.isEmpty == !wasThere)
        try await fixture.store.write { _ = try $0.undelete(Receipt.self, localID: receipt.localID) }
        try await fixture.sync.push()
        #expect(fixture.fileServer.files.count == 1)
        #expect(try fixture.receipt(receipt.localID).photo?.serverURL == PhotoServer.url(photo.id.rawValue))
        #expect(try await !fixture.sync.hasToSend())
    }

    @Test func `a failed file deletion is retried after a restart, and a missing file is not an error`()
        async throws
    {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try fixture.attached()
        try await fixture.sync.push()
        try await fixture.store.write { _ = try $0.delete(try fixture.receipt(receipt.localID)) }
        fixture.fileServer.next("delete", .loseResponse)
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .unreachable)
        let context = fixture.restarted()
        #expect(try await context.hasToSend())
        #expect(try await context.push().isComplete)
        #expect(try await !context.hasToSend())
        #expect(fixture.fileServer.requests.count == 3)
    }
}

/// Values that a closure receives later.
private final class Box: Sendable {
    private let state = Mutex<(Store?, LocalID?)>((nil, nil))
    var store: Store? { state.withLock { $0.0 } }
    var id: LocalID? { state.withLock { $0.1 } }
    func set(_ store: Store?, _ id: LocalID?) { state.withLock { $0 = (store, id) } }
}
