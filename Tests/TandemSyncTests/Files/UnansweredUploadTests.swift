import DatasyncWire
import Foundation
import Synchronization
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// An upload without a response may have arrived. If its file is no longer needed, it must be deleted on the server.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct UnansweredUploadTests {
    /// The change of the photograph.
    enum Fate: CaseIterable {
        case replaced, takenOut, deleted, purged
    }

    /// The end of the upload.
    enum End: CaseIterable {
        /// The response was lost.
        case lost
        /// The process crashed after the server's response.
        case died
        /// The response was lost, and so was that of the next attempt.
        case lostTwice
    }

    private static func end(_ desk: PhotoFixture, _ end: End) async throws {
        switch end {
        case .lost: desk.shelf.next("upload", .loseAnswer)
        case .lostTwice:
            for _ in 0..<2 { desk.shelf.next("upload", .loseAnswer) }
            try await desk.sync.push()
        case .died:
            struct Died: Error {}
            let sync = desk.restarted { $0.onFileStep = { if case .answered = $0 { throw Died() } } }
            await #expect(throws: Died.self) { try await sync.push() }
            return
        }
        try await desk.sync.push()
    }

    private static func meet(_ fate: Fate, _ desk: PhotoFixture, _ receipt: Receipt) async throws {
        let id = receipt.localID
        switch fate {
        case .replaced:
            let second = try desk.store.attachments.add([9, 9, 9], name: "2.jpg")
            try await desk.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.photo = second } }
        case .takenOut: try await desk.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.photo = nil } }
        case .deleted: try await desk.store.write { _ = try $0.delete(try desk.receipt(id)) }
        case .purged: try await desk.sync.purge(Receipt.self, force: true)
        }
    }

    /// Pushes, and checks that nothing is left for another push.
    private static func settle(_ desk: PhotoFixture, _ sync: SyncContext? = nil) async throws {
        let sync = sync ?? desk.sync
        #expect(try await sync.push().isComplete)
        #expect(try await !sync.hasToSend())
        #expect(try desk.store.checkIntegrity() == [])
    }

    private static func url(_ receipt: Receipt) throws -> String {
        PhotoServer.url(try #require(receipt.photo).id.rawValue)
    }

    /// A photograph as a server that knows its URL has it.
    private static func named(_ receipt: Receipt) throws -> JSONNode {
        guard case .object(var members)? = receipt.photo?.__json else { throw PhotoFixture.Missing() }
        members.append((key: "url", value: .text(try url(receipt))))
        return .object(members)
    }

    @Test(arguments: End.allCases, Fate.allCases)
    func `a file of an unanswered upload is deleted if it is no longer needed`(end: End, fate: Fate) async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        try await Self.end(desk, end)
        let url = try Self.url(receipt)
        #expect(Array(desk.shelf.files.keys) == [url])
        try await Self.meet(fate, desk, receipt)
        #expect(try await desk.sync.hasToSend())
        // As after a restart.
        try await Self.settle(desk, desk.restarted())
        #expect(desk.shelf.files[url] == nil)
        #expect(desk.shelf.files.count == (fate == .replaced ? 1 : 0))
    }

    @Test(arguments: End.allCases)
    func `a file of an unanswered upload stays if it is needed, and is not requested twice`(end: End) async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        try await Self.end(desk, end)
        try await desk.store.write { _ = try $0.delete(try desk.receipt(receipt.localID)) }
        try await desk.store.write { _ = try $0.undelete(Receipt.self, localID: receipt.localID) }
        try await Self.settle(desk, desk.restarted())
        #expect(desk.shelf.files.count == 1)
        // The option applies again to an acknowledged file.
        try await Self.meet(.takenOut, desk, receipt)
        try await Self.settle(desk)
        #expect(desk.shelf.files.count == 1)
        #expect(!desk.shelf.requests.contains { $0.hasPrefix("delete") })
    }

    @Test func `the partial file of a cancelled upload is deleted too`() async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        desk.shelf.whileUploading(after: 1000) {
            try? await Self.meet(.takenOut, desk, receipt)
            while !Task.isCancelled { await Task.yield() }
        }
        try await desk.sync.push()
        #expect(desk.shelf.received > 0)
        try await Self.settle(desk)
        #expect(desk.shelf.beginnings == [] && desk.shelf.files.isEmpty)
        #expect(desk.shelf.requests.map { $0.prefix(6) } == ["upload", "delete"])
    }

    @Test(arguments: [ServerFault.cutRequest(after: 1_200_000), .lostResponse])
    func `a complete or partial file is deleted over our own protocol`(fault: ServerFault) async throws {
        let faults = ServerFaults { request, _ in request.method == .put ? [fault] : [] }
        let line = try InProcessFileTransport { $0.faults = faults }
        let desk = try PhotoFixture()
        let files = TandemFiles(ServerAddress("http://shop.example")!, over: line, authentication: nil)
        var options = SyncContext.Options()
        options.clock = JumpingClock(desk.clock)
        let sync = SyncContext(store: desk.store, remote: desk.remote, files: files, options: options)
        let receipt = try desk.attached("Лента", Sample.bytes(2_500_000, seed: 3))
        try await sync.push()
        let id = try #require(receipt.photo).id.rawValue
        let isWhole = try line.shelf.files().count == 1
        #expect(isWhole == (fault == .lostResponse))
        #expect(try isWhole || line.shelf.offset(of: id) != nil)
        try await Self.meet(.takenOut, desk, receipt)
        try await Self.settle(desk, sync)
        #expect(try line.shelf.files().isEmpty)
        #expect(try line.shelf.offset(of: id) == nil)
    }

    @Test(arguments: [true, false])
    func `the next push deletes an unneeded file once, without a wait`(isExplicit: Bool) async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        desk.shelf.next("upload", .loseAnswer)
        try await desk.sync.push()
        let url = try Self.url(receipt)
        desk.shelf.forgetRequests()
        try await Self.meet(.takenOut, desk, receipt)
        let result = try await desk.restarted().send(isExplicit: isExplicit)
        #expect(SyncResult(result).isComplete && result.nextDue == nil)
        #expect(desk.shelf.files.isEmpty)
        try await Self.settle(desk)
        #expect(desk.shelf.requests == ["delete \(url)"])
    }

    /// The article on limits describes this.
    @Test func `an unneeded file that arrives after its delete stays on the server`() async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        desk.shelf.next("upload", .loseAnswer)
        try await desk.sync.push()
        let url = try Self.url(receipt)
        // The last bytes are in transit when the server handles the delete.
        desk.shelf.remove(url)
        try await Self.meet(.takenOut, desk, receipt)
        try await Self.settle(desk)
        desk.shelf.put(PhotoFixture.bytes(), at: url)
        try await Self.settle(desk)
        #expect(Array(desk.shelf.files.keys) == [url])
        #expect(try desk.receipt(receipt.localID).photo == nil)
    }

    @Test func `an upload that arrives after the retry of its file changes nothing`() async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        desk.shelf.next("upload", .loseAnswer)
        try await desk.sync.push()
        let url = try Self.url(receipt)
        desk.shelf.remove(url)
        try await Self.settle(desk)
        // Both requests send the same bytes to the same URL.
        desk.shelf.put(PhotoFixture.bytes(), at: url)
        try await Self.settle(desk)
        let photo = try #require(try desk.receipt(receipt.localID).photo)
        #expect(photo.serverURL == url && Array(desk.shelf.files.keys) == [url])
        #expect(!desk.shelf.requests.contains { $0.hasPrefix("delete") })
    }

    @Test func `no deletion is requested if nothing was sent`() async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        desk.shelf.next("upload", .failPlaced(.notSent(PhotoServer.Broken())))
        try await desk.sync.attemptPush()
        try await Self.meet(.takenOut, desk, receipt)
        try await Self.settle(desk)
        #expect(desk.shelf.requests.map { $0.prefix(6) } == ["upload"])
        // Unless an earlier attempt had sent some of it.
        let other = try desk.attached()
        desk.shelf.next("upload", .loseAnswer)
        desk.shelf.next("upload", .failPlaced(.notSent(PhotoServer.Broken())))
        for _ in 0..<2 { try await desk.sync.attemptPush() }
        #expect(desk.shelf.files.count == 1)
        try await Self.meet(.takenOut, desk, other)
        try await Self.settle(desk)
        #expect(desk.shelf.files.isEmpty)
    }

    @Test func `another file at the same URL is not deleted`() async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        desk.shelf.put([1, 2, 3], at: try Self.url(receipt))
        try await desk.sync.push()
        try await Self.meet(.takenOut, desk, receipt)
        try await Self.settle(desk)
        #expect(desk.shelf.files.count == 1)
        #expect(desk.shelf.requests.map { $0.prefix(6) } == ["upload"])
    }

    @Test func `an arrived file belongs to the server if it sets URLs itself`() async throws {
        for fate in Fate.allCases {
            let desk = try PhotoFixture { $0.serverSetsFileURLs = true }
            let receipt = try desk.attached()
            desk.shelf.next("upload", .loseAnswer)
            try await desk.sync.push()
            try await Self.meet(fate, desk, receipt)
            for _ in 0..<2 { try await desk.sync.push() }
            #expect(desk.shelf.files[try Self.url(receipt)] != nil)
        }
    }

    @Test func `a file that a server names is shared and not deleted`() async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        desk.shelf.next("upload", .loseAnswer)
        try await desk.sync.push()
        // A backup of this store, on another device, has sent it too.
        let named = try Self.named(receipt)
        desk.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { $0.put("photo", named) }
        try await desk.sync.pull(Receipt.self, queryID: "all")
        try await desk.sync.purge(Receipt.self, force: true)
        try await Self.settle(desk)
        #expect(desk.shelf.files.count == 1)
    }

    @Test func `a file that the server's side of a conflict names stays until the decision`() async throws {
        for takesTheirs in [true, false] {
            let desk = try PhotoFixture { $0.deletesFiles = true }
            try desk.sync.table(Receipt.self).setConflicts(.report)
            let receipt = try desk.attached()
            desk.shelf.next("upload", .loseAnswer)
            try await desk.sync.push()
            let (photo, named) = (try #require(receipt.photo), try Self.named(receipt))
            desk.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { $0.put("photo", named) }
            let theirs = Attachment(atServerURL: "https://shelf.example/theirs.jpg")
            try await desk.store.write { tx in
                _ = try tx.update(Receipt.self, localID: receipt.localID) { $0.photo = theirs }
            }
            for _ in 0..<2 { try await desk.sync.push() }
            let failed = try #require(try await desk.sync.failedOperations().first)
            #expect(desk.shelf.files.count == 1)
            if takesTheirs {
                try await desk.sync.takeServers(failed.id)
            } else {
                try await desk.sync.keepMine(failed.id)
            }
            for _ in 0..<2 { try await desk.sync.push() }
            #expect(desk.shelf.files.count == (takesTheirs ? 1 : 0))
            #expect(try desk.receipt(receipt.localID).photo?.id == (takesTheirs ? photo.id : theirs.id))
        }
    }

    @Test func `a file left at another URL by an earlier attempt counts as the same file`() async throws {
        let (desk, shelf, tries) = (try PhotoFixture(), ScriptedFiles(), Counter())
        let deleted = Mutex<[String]>([])
        let files = ClosureFiles { file, _ in
            // The same file by another name, as after a move of the storage.
            let url = "https://blobs-\(tries.next()).example/\(file.id)"
            try await file.willBe(at: url)
            if tries.value == 1 { throw PhotoServer.Broken() }
            return UploadedFile(url: url, etag: nil)
        } download: { file, offset, take in
            try await shelf.download(file, from: offset, to: take)
        } delete: { file in
            deleted.withLock { $0.append(file.url) }
        }
        let receipt = try desk.attached()
        let sync = SyncContext(store: desk.store, remote: desk.remote, files: files)
        try await sync.push()
        try await sync.push()
        #expect(deleted.withLock { $0 } == [])
        #expect(try desk.receipt(receipt.localID).photo?.serverURL?.hasPrefix("https://blobs-2.example/") == true)
        #expect(try await !sync.hasToSend())
    }

    /// The outcome of a copied store's upload whose photograph is then removed.
    enum CopysUpload: CaseIterable {
        case lost, answered, answeredByAStorage, takenThenLost
    }

    @Test(arguments: CopysUpload.allCases)
    func `a copy of a store deletes no file that its original may have sent`(upload: CopysUpload) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        try await desk.restarted(withFiles: false).push()
        try desk.store.backup(to: folder.path(of: "copy.tandem"))
        // The colleagues see it.
        try await desk.sync.push()
        let copy = try Store(at: folder.path(of: "copy.tandem"), models: Receipt.self, Passport.self)
        defer { copy.close() }
        #expect(try copy.checkIntegrity() == [])
        let takeOut: @Sendable () async throws -> Void = {
            try await copy.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = nil } }
        }
        let sync = desk.restarted(on: copy) { options in
            guard upload == .answered || upload == .answeredByAStorage else { return }
            options.onFileStep = { if case .answered = $0 { try await takeOut() } }
        }
        switch upload {
        case .lost: desk.shelf.next("upload", .loseAnswer)
        case .answered: break
        case .answeredByAStorage: desk.shelf.hideWhatWasThere()
        case .takenThenLost:
            desk.shelf.next("upload", .failPlaced(.file(.taken)))
            try await sync.push()
            desk.shelf.next("upload", .loseAnswer)
        }
        try await sync.push()
        if upload == .lost || upload == .takenThenLost { try await takeOut() }
        try await Self.settle(desk, sync)
        #expect(desk.shelf.files.count == 1)
        #expect(!desk.shelf.requests.contains { $0.hasPrefix("delete") })
        #expect(try copy.checkIntegrity() == [])
    }

    @Test(arguments: [SyncContext.AdoptChoice.purge, .keep])
    func `an adopted store deletes no file that the server had before`(
        choice: SyncContext.AdoptChoice
    ) async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        desk.shelf.next("upload", .loseAnswer)
        try await desk.sync.push()
        try await desk.sync.adopt(choice)
        desk.shelf.forgetRequests()
        if choice == .keep { try await Self.meet(.takenOut, desk, receipt) }
        try await Self.settle(desk)
        #expect(desk.shelf.requests == [] && desk.shelf.files.count == 1)
    }

    @Test func `a file whose URL can't be recorded is not sent, and the push reports the error`() async throws {
        let desk = try PhotoFixture()
        try desk.attached()
        let (store, shelf) = (desk.store, desk.shelf)
        let files = ClosureFiles { file, progress in
            store.close()
            return try await shelf.upload(file, progress: progress)
        } download: { file, offset, take in
            try await shelf.download(file, from: offset, to: take)
        } delete: { file in
            try await shelf.delete(file)
        }
        let sync = SyncContext(store: store, remote: desk.remote, files: files)
        let error = await #expect(throws: TandemError.self) { try await sync.push() }
        #expect(error?.code == .closed)
        #expect(shelf.received == 0 && shelf.files.isEmpty)
    }
}
