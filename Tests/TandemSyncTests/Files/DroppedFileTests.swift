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
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        let second = try desk.store.attachments.add([9, 9, 9], name: "2.jpg")
        try await desk.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = second } }
        try await desk.sync.push()
        #expect(desk.shelf.requests == ["upload \(second.id)"])
        #expect(desk.isGone(try #require(receipt.photo)))
        #expect(try desk.store.checkIntegrity() == [])
    }

    @Test func `an object deleted before its upload sends nothing`() async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        try await desk.restarted(withFiles: false).push()
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        // Until the server has acknowledged the delete, an undelete finds the file.
        #expect(!desk.isGone(try #require(receipt.photo)))
        try await desk.sync.push()
        #expect(desk.shelf.requests.isEmpty)
        #expect(desk.isGone(try #require(receipt.photo)))
    }

    @Test func `an upload is cancelled if its photograph is replaced meanwhile`() async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        let store = desk.store
        let second = try store.attachments.add([9, 9, 9], name: "2.jpg")
        let once = Counter()
        desk.shelf.whileUploading {
            guard once.next() == 1 else { return }
            try? await store.write { tx in
                _ = try tx.update(Receipt.self, localID: receipt.localID) { $0.photo = second }
            }
            while !Task.isCancelled { await Task.yield() }
        }
        let result = try await desk.sync.push()
        guard case .dropped? = result.uploads.first?.outcome else {
            Issue.record("\(result.uploads)")
            return
        }
        try await desk.sync.push()
        #expect(Array(desk.shelf.files.keys) == [PhotoServer.url(second.id.rawValue)])
        #expect(try desk.receipt(receipt.localID).isSynced)
        #expect(desk.isGone(try #require(receipt.photo)))
    }

    @Test func `a file whose upload was no longer needed is deleted on the server`() async throws {
        let log = Log()
        let (box, photo) = (Box(), Box())
        let desk = try PhotoFixture {
            $0.onFileStep = { step in
                guard case .answered = step, log.lines.isEmpty, let store = box.store, let id = photo.id else { return }
                log.note("dropped")
                try await store.write { tx in _ = try tx.update(Receipt.self, localID: id) { $0.photo = nil } }
            }
        }
        let receipt = try desk.attached()
        box.set(desk.store, nil)
        photo.set(nil, receipt.localID)
        let result = try await desk.sync.push()
        guard case .dropped? = result.uploads.first?.outcome else {
            Issue.record("\(result.uploads)")
            return
        }
        #expect(desk.shelf.files.isEmpty)
        #expect(desk.shelf.requests.last?.hasPrefix("delete ") == true)
        try await desk.sync.push()
        #expect(try desk.receipt(receipt.localID).isSynced)
    }

    @Test func `files of a deleted object are deleted on the server if the option is set`() async throws {
        for deletes in [true, false] {
            let desk = try PhotoFixture { $0.deletesFiles = deletes }
            let receipt = try desk.attached()
            try await desk.sync.push()
            try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
            try await desk.sync.push()
            #expect(desk.shelf.files.isEmpty == deletes)
            #expect(desk.isGone(try #require(receipt.photo)))
        }
    }

    @Test func `a file that another object names stays on the server until that object is deleted`() async throws {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try desk.attached()
        let copy = try await desk.store.write { try $0.insert(Receipt(shop: "копия", photo: receipt.photo)) }
        try await desk.sync.push()
        #expect(desk.shelf.requests.count == 1)
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        try await desk.store.write { _ = try $0.delete(try desk.receipt(copy.localID)) }
        try await desk.sync.push()
        #expect(desk.shelf.files.isEmpty)
        #expect(try await !desk.sync.hasToSend())
    }

    @Test func `a file stays on the server if its other object only left this device`() async throws {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try desk.attached()
        try await desk.store.write { try $0.insert(Receipt(shop: "копия", photo: receipt.photo)) }
        try await desk.sync.push()
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        try await desk.sync.push()
        // The server has the copy, and this device no longer has it.
        try await desk.sync.purge(Receipt.self)
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        #expect(try await !desk.sync.hasToSend())
    }

    @Test func `a queued file deletion is cancelled if an object names the file again`() async throws {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try desk.attached()
        try await desk.sync.push()
        let photo = try #require(try desk.receipt(receipt.localID).photo)
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        desk.shelf.next("delete", .fail(.unreachable))
        try await desk.sync.attemptPush()
        #expect(try await desk.sync.hasToSend())
        // A colleague has copied it.
        desk.remote.edit("Receipt", id: "theirs") { item in
            item.put("shop", .text("копия"))
            item.put("photo", photo.__json)
        }
        try await desk.sync.pull(Receipt.self, queryID: "all")
        try await desk.sync.purge(Receipt.self)
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        #expect(try await !desk.sync.hasToSend())
    }

    @Test func `a photograph replaced by another client is deleted on the server if the option is set`()
        async throws
    {
        for deletes in [true, false] {
            let desk = try PhotoFixture { $0.deletesFiles = deletes }
            let first = try desk.attached()
            let scan = try desk.store.attachments.add([1], name: "1")
            try await desk.store.write { _ = try $0.update(Receipt.self, localID: first.localID) { $0.scans = [scan] } }
            try await desk.sync.push()
            let second = try desk.store.attachments.add([9, 9, 9], name: "2.jpg")
            try await desk.store.write { tx in
                _ = try tx.update(Receipt.self, localID: first.localID) { receipt in
                    receipt.photo = second
                    receipt.scans = []
                }
            }
            let result = try await desk.sync.push()
            #expect(result.isComplete)
            // A client that adds to a list sends the whole list that it knows.
            #expect(desk.shelf.files.count == (deletes ? 2 : 3))
            let gone = PhotoServer.url(try #require(first.photo).id.rawValue)
            #expect((desk.shelf.files[gone] == nil) == deletes)
            #expect(try await !desk.sync.hasToSend())
        }
    }

    @Test func `a photograph that is put back during its removal stays on the server`() async throws {
        let log = Log()
        let box = Box()
        let desk = try PhotoFixture {
            $0.deletesFiles = true
            $0.onPushStep = { step in
                guard case .answered = step, let store = box.store, let id = box.id, log.lines.isEmpty else { return }
                log.note("back")
                try await store.write { tx in
                    let photo = try tx.objects(Receipt.self).all().first { $0.localID != id }?.photo
                    _ = try tx.update(Receipt.self, localID: id) { $0.photo = photo }
                }
            }
        }
        let receipt = try desk.attached()
        let copy = try await desk.store.write { try $0.insert(Receipt(shop: "копия", photo: receipt.photo)) }
        try await desk.sync.push()
        try await desk.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = nil } }
        box.set(desk.store, receipt.localID)
        try await desk.sync.push()
        #expect(log.lines == ["back"])
        try await desk.store.write { _ = try $0.delete(try desk.receipt(copy.localID)) }
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        #expect(try desk.receipt(receipt.localID).photo?.serverURL != nil)
    }

    @Test func `a file that a rejected change would restore is not deleted`() async throws {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try desk.attached()
        let copy = try await desk.store.write { try $0.insert(Receipt(shop: "копия", photo: receipt.photo)) }
        try await desk.sync.push()
        try await desk.store.write { tx in
            for id in [receipt.localID, copy.localID] {
                _ = try tx.update(Receipt.self, localID: id) { $0.photo = nil }
            }
        }
        let operation = try #require(try desk.store.operations.all().last { $0.localID == copy.localID })
        try await desk.sync.hold(operation.id)
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        try await desk.sync.discard(operation.id)
        try await desk.sync.push()
        let photo = try #require(try desk.receipt(copy.localID).photo)
        try await desk.sync.download(photo)
        #expect(try Array(desk.store.attachments.data(of: photo)) == PhotoFixture.bytes())
    }

    @Test(arguments: [RemoteFault.loseAnswer, .loseRequest])
    func `files of an object are deleted if the response to its delete was lost`(fault: RemoteFault) async throws {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try desk.attached()
        try await desk.sync.push()
        let second = try desk.store.attachments.add([9, 9, 9], name: "2.jpg")
        try await desk.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = second } }
        desk.remote.next(fault, on: .update)
        try await desk.sync.attemptPush()
        try await desk.sync.push()
        #expect(Array(desk.shelf.files.keys) == [PhotoServer.url(second.id.rawValue)])
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        desk.remote.next(fault, on: .delete)
        try await desk.sync.attemptPush()
        try await desk.sync.push()
        #expect(desk.shelf.files.isEmpty)
        #expect(try await !desk.sync.hasToSend())
    }

    @Test func `the old file is deleted if its object is deleted before the new photograph was sent`()
        async throws
    {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try desk.attached()
        try await desk.sync.push()
        let second = try desk.store.attachments.add([9, 9, 9], name: "2.jpg")
        try await desk.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = second } }
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        try await desk.sync.push()
        #expect(desk.shelf.files.isEmpty)
    }

    @Test func `a deleted object stops its upload, and an undelete resumes it`()
        async throws
    {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        let store = desk.store
        let once = Counter()
        desk.shelf.whileUploading {
            guard once.next() == 1 else { return }
            try? await store.write { tx in
                guard let live = try tx.object(ofType: Receipt.self, forPrimaryKey: receipt.localID) else { return }
                _ = try tx.delete(live)
                // Otherwise it would be sent beside the upload, and could not be restored.
                for operation in try tx.operations(after: nil, limit: 10) { try tx.sync.hold(operation.id) }
            }
            while !Task.isCancelled { await Task.yield() }
        }
        let result = try await desk.sync.push()
        guard case .dropped? = result.uploads.first?.outcome else {
            Issue.record("\(result.uploads)")
            return
        }
        #expect(desk.shelf.files.isEmpty)
        let photo = try #require(receipt.photo)
        #expect(try store.attachments.status(of: photo).state == .pending)
        try await store.write { _ = try $0.undelete(Receipt.self, localID: receipt.localID) }
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        #expect(try desk.receipt(receipt.localID).isSynced)
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: [false, true])
    func `a file uploaded for a deleted object is deleted unless it existed before`(
        wasThere: Bool
    ) async throws {
        let log = Log()
        let box = Box()
        let desk = try PhotoFixture {
            $0.onFileStep = { step in
                guard case .answered = step, let store = box.store, let id = box.id, log.lines.isEmpty else { return }
                log.note("deleted")
                try await store.write { tx in
                    if let live = try tx.object(ofType: Receipt.self, forPrimaryKey: id) { _ = try tx.delete(live) }
                    for operation in try tx.operations(after: nil, limit: 10) { try tx.sync.hold(operation.id) }
                }
            }
        }
        let receipt = try desk.attached()
        box.set(desk.store, receipt.localID)
        let photo = try #require(receipt.photo)
        if wasThere { desk.shelf.put(PhotoFixture.bytes(), at: PhotoServer.url(photo.id.rawValue)) }
        try await desk.sync.push()
        #expect(log.lines == ["deleted"])
        #expect(desk.shelf.files.isEmpty == !wasThere)
        try await desk.store.write { _ = try $0.undelete(Receipt.self, localID: receipt.localID) }
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        #expect(try desk.receipt(receipt.localID).photo?.serverURL == PhotoServer.url(photo.id.rawValue))
        #expect(try await !desk.sync.hasToSend())
    }

    @Test func `a failed file deletion is retried after a restart, and a missing file is not an error`()
        async throws
    {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let receipt = try desk.attached()
        try await desk.sync.push()
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        desk.shelf.next("delete", .loseAnswer)
        let result = try await desk.sync.attemptPush()
        #expect(result.stoppedBy?.code == .unreachable)
        let context = desk.restarted()
        #expect(try await context.hasToSend())
        #expect(try await context.push().isComplete)
        #expect(try await !context.hasToSend())
        #expect(desk.shelf.requests.count == 3)
    }
}

/// Values that a closure receives later.
private final class Box: Sendable {
    private let state = Mutex<(Store?, LocalID?)>((nil, nil))
    var store: Store? { state.withLock { $0.0 } }
    var id: LocalID? { state.withLock { $0.1 } }
    func set(_ store: Store?, _ id: LocalID?) { state.withLock { $0 = (store, id) } }
}
