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

    private static func end(_ fixture: PhotoFixture, _ end: End) async throws {
        switch end {
        case .lost: fixture.fileServer.next("upload", .loseResponse)
        case .lostTwice:
            for _ in 0..<2 { fixture.fileServer.next("upload", .loseResponse) }
            try await fixture.sync.push()
        case .died:
            struct Died: Error {}
            let sync = fixture.restarted { $0.onFileStep = { if case .responded = $0 { throw Died() } } }
            await #expect(throws: Died.self) { try await sync.push() }
            return
        }
        try await fixture.sync.push()
    }

    private static func apply(_ fate: Fate, _ fixture: PhotoFixture, _ receipt: Receipt) async throws {
        let id = receipt.localID
        switch fate {
        case .replaced:
            let second = try fixture.store.attachments.add([9, 9, 9], name: "2.jpg")
            try await fixture.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.photo = second } }
        case .takenOut:
            try await fixture.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.photo = nil } }
        case .deleted: try await fixture.store.write { _ = try $0.delete(try fixture.receipt(id)) }
        case .purged: try await fixture.sync.purge(Receipt.self, force: true)
        }
    }

    /// Pushes, and checks that nothing is left for another push.
    private static func pushAll(_ fixture: PhotoFixture, _ sync: SyncContext? = nil) async throws {
        let sync = sync ?? fixture.sync
        #expect(try await sync.push().isComplete)
        #expect(try await !sync.hasToSend())
        #expect(try fixture.store.checkIntegrity() == [])
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
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        try await Self.end(fixture, end)
        let url = try Self.url(receipt)
        #expect(Array(fixture.fileServer.files.keys) == [url])
        try await Self.apply(fate, fixture, receipt)
        #expect(try await fixture.sync.hasToSend())
        // As after a restart.
        try await Self.pushAll(fixture, fixture.restarted())
        #expect(fixture.fileServer.files[url] == nil)
        #expect(fixture.fileServer.files.count == (fate == .replaced ? 1 : 0))
    }

    @Test(arguments: End.allCases)
    func `a file of an unanswered upload stays if it is needed, and is not requested twice`(end: End) async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        try await Self.end(fixture, end)
        try await fixture.store.write { _ = try $0.delete(try fixture.receipt(receipt.localID)) }
        try await fixture.store.write { _ = try $0.undelete(Receipt.self, localID: receipt.localID) }
        try await Self.pushAll(fixture, fixture.restarted())
        #expect(fixture.fileServer.files.count == 1)
        // The option applies again to an acknowledged file.
        try await Self.apply(.takenOut, fixture, receipt)
        try await Self.pushAll(fixture)
        #expect(fixture.fileServer.files.count == 1)
        #expect(!fixture.fileServer.requests.contains { $0.hasPrefix("delete") })
    }

    @Test func `the partial file of a cancelled upload is deleted too`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        fixture.fileServer.whileUploading(after: 1000) {
            try? await Self.apply(.takenOut, fixture, receipt)
            while !Task.isCancelled { await Task.yield() }
        }
        try await fixture.sync.push()
        #expect(fixture.fileServer.received > 0)
        try await Self.pushAll(fixture)
        #expect(fixture.fileServer.beginnings == [] && fixture.fileServer.files.isEmpty)
        #expect(fixture.fileServer.requests.map { $0.prefix(6) } == ["upload", "delete"])
    }

    @Test(arguments: [ServerFault.cutRequest(after: 1_200_000), .lostResponse])
    func `a complete or partial file is deleted over our own protocol`(fault: ServerFault) async throws {
        let faults = ServerFaults { request, _ in request.method == .put ? [fault] : [] }
        let line = try InProcessFileTransport { $0.faults = faults }
        let fixture = try PhotoFixture()
        let files = TandemFiles(ServerAddress("http://shop.example")!, over: line, authentication: nil)
        var options = SyncContext.Options()
        options.clock = JumpingClock(fixture.clock)
        let sync = SyncContext(store: fixture.store, remote: fixture.remote, files: files, options: options)
        let receipt = try fixture.attached("Лента", Sample.bytes(2_500_000, seed: 3))
        try await sync.push()
        let id = try #require(receipt.photo).id.rawValue
        let isWhole = try line.fileServer.files().count == 1
        #expect(isWhole == (fault == .lostResponse))
        #expect(try isWhole || line.fileServer.offset(of: id) != nil)
        try await Self.apply(.takenOut, fixture, receipt)
        try await Self.pushAll(fixture, sync)
        #expect(try line.fileServer.files().isEmpty)
        #expect(try line.fileServer.offset(of: id) == nil)
    }

    @Test(arguments: [true, false])
    func `the next push deletes an unneeded file once, without a wait`(isExplicit: Bool) async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        fixture.fileServer.next("upload", .loseResponse)
        try await fixture.sync.push()
        let url = try Self.url(receipt)
        fixture.fileServer.forgetRequests()
        try await Self.apply(.takenOut, fixture, receipt)
        let result = try await fixture.restarted().send(isExplicit: isExplicit)
        #expect(result.isComplete && result.nextDue == nil)
        #expect(fixture.fileServer.files.isEmpty)
        try await Self.pushAll(fixture)
        #expect(fixture.fileServer.requests == ["delete \(url)"])
    }

    /// The article on limits describes this.
    @Test func `an unneeded file that arrives after its delete stays on the server`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        fixture.fileServer.next("upload", .loseResponse)
        try await fixture.sync.push()
        let url = try Self.url(receipt)
        // The last bytes are in transit when the server handles the delete.
        fixture.fileServer.remove(url)
        try await Self.apply(.takenOut, fixture, receipt)
        try await Self.pushAll(fixture)
        fixture.fileServer.put(PhotoFixture.bytes(), at: url)
        try await Self.pushAll(fixture)
        #expect(Array(fixture.fileServer.files.keys) == [url])
        #expect(try fixture.receipt(receipt.localID).photo == nil)
    }

    @Test func `an upload that arrives after the retry of its file changes nothing`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        fixture.fileServer.next("upload", .loseResponse)
        try await fixture.sync.push()
        let url = try Self.url(receipt)
        fixture.fileServer.remove(url)
        try await Self.pushAll(fixture)
        // Both requests send the same bytes to the same URL.
        fixture.fileServer.put(PhotoFixture.bytes(), at: url)
        try await Self.pushAll(fixture)
        let photo = try #require(try fixture.receipt(receipt.localID).photo)
        #expect(photo.serverURL == url && Array(fixture.fileServer.files.keys) == [url])
        #expect(!fixture.fileServer.requests.contains { $0.hasPrefix("delete") })
    }

    @Test func `no deletion is requested if nothing was sent`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        fixture.fileServer.next("upload", .failPlaced(.notSent(PhotoServer.Broken())))
        try await fixture.sync.attemptPush()
        try await Self.apply(.takenOut, fixture, receipt)
        try await Self.pushAll(fixture)
        #expect(fixture.fileServer.requests.map { $0.prefix(6) } == ["upload"])
        // Unless an earlier attempt had sent some of it.
        let other = try fixture.attached()
        fixture.fileServer.next("upload", .loseResponse)
        fixture.fileServer.next("upload", .failPlaced(.notSent(PhotoServer.Broken())))
        for _ in 0..<2 { try await fixture.sync.attemptPush() }
        #expect(fixture.fileServer.files.count == 1)
        try await Self.apply(.takenOut, fixture, other)
        try await Self.pushAll(fixture)
        #expect(fixture.fileServer.files.isEmpty)
    }

    @Test func `another file at the same URL is not deleted`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        fixture.fileServer.put([1, 2, 3], at: try Self.url(receipt))
        try await fixture.sync.push()
        try await Self.apply(.takenOut, fixture, receipt)
        try await Self.pushAll(fixture)
        #expect(fixture.fileServer.files.count == 1)
        #expect(fixture.fileServer.requests.map { $0.prefix(6) } == ["upload"])
    }

    @Test func `an arrived file belongs to the server if it sets URLs itself`() async throws {
        for fate in Fate.allCases {
            let fixture = try PhotoFixture { $0.serverSetsFileURLs = true }
            let receipt = try fixture.attached()
            fixture.fileServer.next("upload", .loseResponse)
            try await fixture.sync.push()
            try await Self.apply(fate, fixture, receipt)
            for _ in 0..<2 { try await fixture.sync.push() }
            #expect(fixture.fileServer.files[try Self.url(receipt)] != nil)
        }
    }

    @Test func `a file that a server names is shared and not deleted`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        fixture.fileServer.next("upload", .loseResponse)
        try await fixture.sync.push()
        // A backup of this store, on another device, has sent it too.
        let named = try Self.named(receipt)
        fixture.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { $0.put("photo", named) }
        try await fixture.sync.pull(Receipt.self, queryID: "all")
        try await fixture.sync.purge(Receipt.self, force: true)
        try await Self.pushAll(fixture)
        #expect(fixture.fileServer.files.count == 1)
    }

    @Test func `a file that the server's side of a conflict names stays until the decision`() async throws {
        for takesTheirs in [true, false] {
            let fixture = try PhotoFixture { $0.deletesFiles = true }
            try fixture.sync.table(Receipt.self).setConflicts(.report)
            let receipt = try fixture.attached()
            fixture.fileServer.next("upload", .loseResponse)
            try await fixture.sync.push()
            let (photo, named) = (try #require(receipt.photo), try Self.named(receipt))
            fixture.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { $0.put("photo", named) }
            let theirs = Attachment(atServerURL: "https://shelf.example/theirs.jpg")
            try await fixture.store.write { tx in
                _ = try tx.update(Receipt.self, localID: receipt.localID) { $0.photo = theirs }
            }
            for _ in 0..<2 { try await fixture.sync.push() }
            let failed = try #require(try await fixture.sync.failedOperations().first)
            #expect(fixture.fileServer.files.count == 1)
            if takesTheirs {
                try await fixture.sync.takeServers(failed.id)
            } else {
                try await fixture.sync.keepMine(failed.id)
            }
            for _ in 0..<2 { try await fixture.sync.push() }
            #expect(fixture.fileServer.files.count == (takesTheirs ? 1 : 0))
            #expect(try fixture.receipt(receipt.localID).photo?.id == (takesTheirs ? photo.id : theirs.id))
        }
    }

    @Test func `a file left at another URL by an earlier attempt counts as the same file`() async throws {
        let (fixture, fileServer, tries) = (try PhotoFixture(), ScriptedFiles(), Counter())
        let deleted = Mutex<[String]>([])
        let files = ClosureFiles { file, _ in
            // The same file by another name, as after a move of the storage.
            let url = "https://blobs-\(tries.next()).example/\(file.id)"
            try await file.willBe(at: url)
            if tries.value == 1 { throw PhotoServer.Broken() }
            return UploadedFile(url: url, etag: nil)
        } download: { file, offset, take in
            try await fileServer.download(file, from: offset, to: take)
        } delete: { file in
            deleted.withLock { $0.append(file.url) }
        }
        let receipt = try fixture.attached()
        let sync = SyncContext(store: fixture.store, remote: fixture.remote, files: files)
        try await sync.push()
        try await sync.push()
        #expect(deleted.withLock { $0 } == [])
        #expect(try fixture.receipt(receipt.localID).photo?.serverURL?.hasPrefix("https://blobs-2.example/") == true)
        #expect(try await !sync.hasToSend())
    }

    /// The outcome of a copied store's upload whose photograph is then removed.
    enum CopysUpload: CaseIterable {
        case lost, responded, respondedByStorage, takenThenLost
    }

    @Test(arguments: CopysUpload.allCases)
    func `a copy of a store deletes no file that its original may have sent`(upload: CopysUpload) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        try await fixture.restarted(withFiles: false).push()
        try fixture.store.backup(to: folder.path(of: "copy.tandem"))
        // The colleagues see it.
        try await fixture.sync.push()
        let copy = try Store(at: folder.path(of: "copy.tandem"), models: Receipt.self, Passport.self)
        defer { copy.close() }
        #expect(try copy.checkIntegrity() == [])
        let takeOut: @Sendable () async throws -> Void = {
            try await copy.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = nil } }
        }
        let sync = fixture.restarted(on: copy) { options in
            guard upload == .responded || upload == .respondedByStorage else { return }
            options.onFileStep = { if case .responded = $0 { try await takeOut() } }
        }
        switch upload {
        case .lost: fixture.fileServer.next("upload", .loseResponse)
        case .responded: break
        case .respondedByStorage: fixture.fileServer.hideWhatWasThere()
        case .takenThenLost:
            fixture.fileServer.next("upload", .failPlaced(.file(.taken)))
            try await sync.push()
            fixture.fileServer.next("upload", .loseResponse)
        }
        try await sync.push()
        if upload == .lost || upload == .takenThenLost { try await takeOut() }
        try await Self.pushAll(fixture, sync)
        #expect(fixture.fileServer.files.count == 1)
        #expect(!fixture.fileServer.requests.contains { $0.hasPrefix("delete") })
        #expect(try copy.checkIntegrity() == [])
    }

    @Test(arguments: [SyncContext.AdoptChoice.purge, .keep])
    func `an adopted store deletes no file that the server had before`(
        choice: SyncContext.AdoptChoice
    ) async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        fixture.fileServer.next("upload", .loseResponse)
        try await fixture.sync.push()
        try await fixture.sync.adopt(choice)
        fixture.fileServer.forgetRequests()
        if choice == .keep { try await Self.apply(.takenOut, fixture, receipt) }
        try await Self.pushAll(fixture)
        #expect(fixture.fileServer.requests == [] && fixture.fileServer.files.count == 1)
    }

    @Test func `a file whose URL can't be recorded is not sent, and the push reports the error`() async throws {
        let fixture = try PhotoFixture()
        try fixture.attached()
        let (store, fileServer) = (fixture.store, fixture.fileServer)
        let files = ClosureFiles { file, progress in
            store.close()
            return try await fileServer.upload(file, progress: progress)
        } download: { file, offset, take in
            try await fileServer.download(file, from: offset, to: take)
        } delete: { file in
            try await fileServer.delete(file)
        }
        let sync = SyncContext(store: store, remote: fixture.remote, files: files)
        let error = await #expect(throws: TandemError.self) { try await sync.push() }
        #expect(error?.code == .closed)
        #expect(fileServer.received == 0 && fileServer.files.isEmpty)
    }
}
