import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// What is not needed any more is not sent, and leaves nothing behind.
@Suite(.ownThreads) struct DroppedFileTests {
    @Test func `a photograph replaced before its upload is never sent`() async throws {
        let desk = try PhotoDesk()
        let receipt = try desk.attached()
        let second = try desk.store.attachments.add([9, 9, 9], name: "2.jpg")
        try await desk.store.write { _ = try $0.update(Receipt.self, receipt.localID) { $0.photo = second } }
        try await desk.sync.push()
        #expect(desk.shelf.requests == ["upload \(second.id)"])
        #expect(desk.isGone(try #require(receipt.photo)))
        #expect(try desk.store.checkIntegrity() == [])
    }

    @Test func `an object deleted before its upload sends nothing`() async throws {
        let desk = try PhotoDesk()
        let receipt = try desk.attached()
        try await desk.restarted(withFiles: false).push()
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        // Until the server has acknowledged the delete, an undelete finds the file.
        #expect(!desk.isGone(try #require(receipt.photo)))
        try await desk.sync.push()
        #expect(desk.shelf.requests.isEmpty)
        #expect(desk.isGone(try #require(receipt.photo)))
    }

    @Test func `an upload whose photograph is replaced meanwhile is cancelled`() async throws {
        let desk = try PhotoDesk()
        let receipt = try desk.attached()
        let store = desk.store
        let second = try store.attachments.add([9, 9, 9], name: "2.jpg")
        let once = Counter()
        desk.shelf.whileUploading {
            guard once.next() == 1 else { return }
            try? await store.write { tx in _ = try tx.update(Receipt.self, receipt.localID) { $0.photo = second } }
            while !Task.isCancelled { await Task.yield() }
        }
        let result = try await desk.sync.push()
        guard case .dropped? = result.uploads.first?.outcome else {
            Issue.record("\(result.uploads)")
            return
        }
        try await desk.sync.push()
        #expect(Array(desk.shelf.files.keys) == [PhotoShelf.url(second.id.rawValue)])
        #expect(try desk.receipt(receipt.localID).isSynced)
        #expect(desk.isGone(try #require(receipt.photo)))
    }

    @Test func `what was uploaded all the same is deleted on the server`() async throws {
        let log = Log()
        let (box, photo) = (Box(), Box())
        let desk = try PhotoDesk {
            $0.onFileStep = { step in
                guard case .answered = step, log.lines.isEmpty, let store = box.store, let id = photo.id else { return }
                log.note("dropped")
                try await store.write { tx in _ = try tx.update(Receipt.self, id) { $0.photo = nil } }
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

    @Test func `files of a deleted object are deleted on the server if the option says so`() async throws {
        for deletes in [true, false] {
            let desk = try PhotoDesk { $0.deletesFiles = deletes }
            let receipt = try desk.attached()
            try await desk.sync.push()
            try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
            try await desk.sync.push()
            #expect(desk.shelf.files.isEmpty == deletes)
            #expect(desk.isGone(try #require(receipt.photo)))
        }
    }

    @Test func `a file that another object names stays on the server until that one goes too`() async throws {
        let desk = try PhotoDesk { $0.deletesFiles = true }
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

    @Test func `a file whose other object has left this device only is not deleted`() async throws {
        let desk = try PhotoDesk { $0.deletesFiles = true }
        let receipt = try desk.attached()
        try await desk.store.write { try $0.insert(Receipt(shop: "копия", photo: receipt.photo)) }
        try await desk.sync.push()
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        try await desk.sync.push()
        // The server has the copy, and this device has it no more.
        try await desk.sync.purge(Receipt.self)
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        #expect(try await !desk.sync.hasToSend())
    }

    @Test func `a file that an object names again is not deleted any more`() async throws {
        let desk = try PhotoDesk { $0.deletesFiles = true }
        let receipt = try desk.attached()
        try await desk.sync.push()
        let photo = try #require(try desk.receipt(receipt.localID).photo)
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        desk.shelf.next("delete", .fail(.unreachable))
        try await desk.sync.attemptPush()
        #expect(try await desk.sync.hasToSend())
        // A colleague has copied it.
        desk.remote.edit("Receipt", "theirs") { item in
            item.put("shop", .text("копия"))
            item.put("photo", photo.__json)
        }
        try await desk.sync.pull(Receipt.self, queryID: "all")
        try await desk.sync.purge(Receipt.self)
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        #expect(try await !desk.sync.hasToSend())
    }

    @Test func `a photograph that another has replaced on the server is deleted there if the option says so`()
        async throws
    {
        for deletes in [true, false] {
            let desk = try PhotoDesk { $0.deletesFiles = deletes }
            let first = try desk.attached()
            let scan = try desk.store.attachments.add([1], name: "1")
            try await desk.store.write { _ = try $0.update(Receipt.self, first.localID) { $0.scans = [scan] } }
            try await desk.sync.push()
            let second = try desk.store.attachments.add([9, 9, 9], name: "2.jpg")
            try await desk.store.write { tx in
                _ = try tx.update(Receipt.self, first.localID) { receipt in
                    receipt.photo = second
                    receipt.scans = []
                }
            }
            let result = try await desk.sync.push()
            #expect(result.isComplete)
            // What others add to a list comes with all that they know of it.
            #expect(desk.shelf.files.count == (deletes ? 2 : 3))
            let gone = PhotoShelf.url(try #require(first.photo).id.rawValue)
            #expect((desk.shelf.files[gone] == nil) == deletes)
            #expect(try await !desk.sync.hasToSend())
        }
    }

    @Test func `a photograph that was put back while it was being taken out stays on the server`() async throws {
        let log = Log()
        let box = Box()
        let desk = try PhotoDesk {
            $0.deletesFiles = true
            $0.onPushStep = { step in
                guard case .answered = step, let store = box.store, let id = box.id, log.lines.isEmpty else { return }
                log.note("back")
                try await store.write { tx in
                    let photo = try tx.objects(Receipt.self).all().first { $0.localID != id }?.photo
                    _ = try tx.update(Receipt.self, id) { $0.photo = photo }
                }
            }
        }
        let receipt = try desk.attached()
        let copy = try await desk.store.write { try $0.insert(Receipt(shop: "копия", photo: receipt.photo)) }
        try await desk.sync.push()
        try await desk.store.write { _ = try $0.update(Receipt.self, receipt.localID) { $0.photo = nil } }
        box.set(desk.store, receipt.localID)
        try await desk.sync.push()
        #expect(log.lines == ["back"])
        try await desk.store.write { _ = try $0.delete(try desk.receipt(copy.localID)) }
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        #expect(try desk.receipt(receipt.localID).photo?.serverURL != nil)
    }

    @Test func `a file that a change which was refused would bring back is not deleted`() async throws {
        let desk = try PhotoDesk { $0.deletesFiles = true }
        let receipt = try desk.attached()
        let copy = try await desk.store.write { try $0.insert(Receipt(shop: "копия", photo: receipt.photo)) }
        try await desk.sync.push()
        try await desk.store.write { tx in
            for id in [receipt.localID, copy.localID] { _ = try tx.update(Receipt.self, id) { $0.photo = nil } }
        }
        let operation = try #require(try desk.store.operations.all().last { $0.localID == copy.localID })
        try await desk.sync.hold(operation.id)
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        try await desk.sync.discard(operation.id)
        try await desk.sync.push()
        let photo = try #require(try desk.receipt(copy.localID).photo)
        try await desk.sync.download(photo)
        #expect(try Array(desk.store.attachments.data(of: photo)) == PhotoDesk.bytes())
    }

    @Test(arguments: [RemoteFault.loseAnswer, .loseRequest])
    func `files of an object whose delete was not answered are deleted all the same`(fault: RemoteFault) async throws {
        let desk = try PhotoDesk { $0.deletesFiles = true }
        let receipt = try desk.attached()
        try await desk.sync.push()
        let second = try desk.store.attachments.add([9, 9, 9], name: "2.jpg")
        try await desk.store.write { _ = try $0.update(Receipt.self, receipt.localID) { $0.photo = second } }
        desk.remote.next(fault, on: .update)
        try await desk.sync.attemptPush()
        try await desk.sync.push()
        #expect(Array(desk.shelf.files.keys) == [PhotoShelf.url(second.id.rawValue)])
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        desk.remote.next(fault, on: .delete)
        try await desk.sync.attemptPush()
        try await desk.sync.push()
        #expect(desk.shelf.files.isEmpty)
        #expect(try await !desk.sync.hasToSend())
    }

    @Test func `of an object that is deleted before its new photograph was sent the old one is deleted too`()
        async throws
    {
        let desk = try PhotoDesk { $0.deletesFiles = true }
        let receipt = try desk.attached()
        try await desk.sync.push()
        let second = try desk.store.attachments.add([9, 9, 9], name: "2.jpg")
        try await desk.store.write { _ = try $0.update(Receipt.self, receipt.localID) { $0.photo = second } }
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        try await desk.sync.push()
        #expect(desk.shelf.files.isEmpty)
    }

    @Test func `an object deleted while its file is uploaded stops the upload, and an undelete sends it after all`()
        async throws
    {
        let desk = try PhotoDesk()
        let receipt = try desk.attached()
        let store = desk.store
        let once = Counter()
        desk.shelf.whileUploading {
            guard once.next() == 1 else { return }
            try? await store.write { tx in
                guard let live = try tx.object(ofType: Receipt.self, forPrimaryKey: receipt.localID) else { return }
                _ = try tx.delete(live)
                // Or it would be sent beside the upload, and could not be brought back.
                for operation in try tx.operations(after: nil, limit: 10) { try tx.hold(operation.id) }
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
        try await store.write { _ = try $0.undelete(Receipt.self, receipt.localID) }
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        #expect(try desk.receipt(receipt.localID).isSynced)
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: [false, true])
    func `a file that came although its object was deleted is taken back, if it was not there before`(
        wasThere: Bool
    ) async throws {
        let log = Log()
        let box = Box()
        let desk = try PhotoDesk {
            $0.onFileStep = { step in
                guard case .answered = step, let store = box.store, let id = box.id, log.lines.isEmpty else { return }
                log.note("deleted")
                try await store.write { tx in
                    if let live = try tx.object(ofType: Receipt.self, forPrimaryKey: id) { _ = try tx.delete(live) }
                    for operation in try tx.operations(after: nil, limit: 10) { try tx.hold(operation.id) }
                }
            }
        }
        let receipt = try desk.attached()
        box.set(desk.store, receipt.localID)
        let photo = try #require(receipt.photo)
        if wasThere { desk.shelf.put(PhotoDesk.bytes(), at: PhotoShelf.url(photo.id.rawValue)) }
        try await desk.sync.push()
        #expect(log.lines == ["deleted"])
        #expect(desk.shelf.files.isEmpty == !wasThere)
        try await desk.store.write { _ = try $0.undelete(Receipt.self, receipt.localID) }
        try await desk.sync.push()
        #expect(desk.shelf.files.count == 1)
        #expect(try desk.receipt(receipt.localID).photo?.serverURL == PhotoShelf.url(photo.id.rawValue))
        #expect(try await !desk.sync.hasToSend())
    }

    @Test func `a file that can't be deleted now is deleted later, over a restart, and one that is gone is no failure`()
        async throws
    {
        let desk = try PhotoDesk { $0.deletesFiles = true }
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

/// What a closure is told when it is there.
private final class Box: Sendable {
    private let state = Mutex<(Store?, LocalID?)>((nil, nil))
    var store: Store? { state.withLock { $0.0 } }
    var id: LocalID? { state.withLock { $0.1 } }
    func set(_ store: Store?, _ id: LocalID?) { state.withLock { $0 = (store, id) } }
}
