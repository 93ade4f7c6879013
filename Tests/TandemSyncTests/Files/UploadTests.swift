import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

@Suite(.ownThreads) struct UploadTests {
    @Test func `a file attached offline reaches another device by a push, a pull and a download`() async throws {
        let fixture = try PhotoFixture()
        let bytes = PhotoFixture.bytes(5000)
        let receipt = try fixture.attached("Пятёрочка", bytes)
        #expect(!receipt.isSynced)
        let result = try await fixture.sync.push()
        #expect(result.isComplete)
        #expect(result.uploads.count == 1)
        let here = try fixture.receipt(receipt.localID)
        #expect(here.isSynced)
        #expect(here.photo?.serverURL == PhotoServer.url(here.photo?.id.rawValue ?? ""))
        #expect(fixture.asked == [.insert, .update])
        #expect(try await fixture.sync.state(of: here) == .synced)
        #expect(try fixture.store.operations.count() == 0)

        let (store, sync) = try fixture.other()
        try await sync.synchronize()
        let there = try #require(try await store.objects(Receipt.self).all().first)
        #expect(there.photo == here.photo)
        #expect(there.isSynced)
        let photo = try #require(there.photo)
        #expect(try store.attachments.diskURL(of: photo) == nil)
        try await sync.download(photo)
        #expect(try Array(store.attachments.data(of: photo)) == bytes)
        #expect(try store.checkIntegrity() == [])
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `a push sends objects first, then files, then the URLs`() async throws {
        let log = Log()
        let fixture = try PhotoFixture {
            $0.onPushStep = { if case .responded = $0 { log.note("object") } }
            $0.onFileStep = { if case .responded = $0 { log.note("file") } }
        }
        try fixture.attached("A")
        try fixture.attached("B")
        try await fixture.sync.push()
        #expect(log.lines == ["object", "object", "file", "file", "object", "object"])
    }

    @Test func `an object with a pending file is not synced until its URL is acknowledged`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        fixture.fileServer.next("upload", .fail(.refused(status: 403, message: "No.")))
        let result = try await fixture.sync.push()
        #expect(!result.isComplete)
        var here = try fixture.receipt(receipt.localID)
        #expect(here.serverID != nil)
        #expect(!here.isSynced)
        #expect(try fixture.store.operations.count() == 0)
        guard case .waitingForFiles(1, let reason?)? = try await fixture.sync.state(of: here) else {
            Issue.record("\(String(describing: try await fixture.sync.state(of: here)))")
            return
        }
        #expect(reason.contains("No."))
        #expect(try await fixture.sync.status().pendingFiles == 1)

        // The update with the URL is lost, so the object is not synced yet.
        fixture.remote.next(.loseRequest, on: .update)
        try await fixture.sync.attemptPush()
        here = try fixture.receipt(receipt.localID)
        #expect(here.photo?.serverURL != nil)
        #expect(!here.isSynced)
        try await fixture.sync.push()
        #expect(try fixture.receipt(receipt.localID).isSynced)
        #expect(fixture.fileServer.requests.count == 2)
    }

    @Test func `files wait without a file server, and objects are sent`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        let context = fixture.restarted(withFiles: false)
        let result = try await context.push()
        #expect(result.isComplete)
        #expect(result.uploads.isEmpty)
        #expect(fixture.served(receipt) == .null)
        #expect(try !fixture.receipt(receipt.localID).isSynced)
        try await context.synchronize()
        #expect(try fixture.receipt(receipt.localID).photo == receipt.photo)
        try await fixture.sync.push()
        #expect(try fixture.receipt(receipt.localID).isSynced)
    }

    @Test(arguments: ["чек\r\n\u{0}\"/../..\n.jpg", String(repeating: "ფოტო", count: 25) + ".jpg", ""])
    func `a file keeps its name, whatever characters it contains`(name: String) async throws {
        let fixture = try PhotoFixture()
        let photo = try fixture.store.attachments.add(PhotoFixture.bytes(), name: name)
        #expect(photo.name == name)
        let id = try await fixture.store.write { try $0.insert(Receipt(shop: "Лента", photo: photo)) }.localID
        try await fixture.sync.push()
        #expect(fixture.fileServer.files[PhotoServer.url(photo.id.rawValue)]?.name == name)
        let (store, sync) = try fixture.other()
        try await sync.synchronize()
        let there = try #require(try await store.objects(Receipt.self).first()?.photo)
        #expect(there.name == name)
        try await sync.download(there)
        #expect(try Array(store.attachments.data(of: there)) == PhotoFixture.bytes())
        #expect(try fixture.receipt(id).isSynced)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `each failed attempt doubles the delay, up to a day`() async throws {
        for (failure, first, longest) in [
            (RemoteFailure.refused(status: 403, message: "No."), 60.0, 86_400.0),
            (.later(status: 503, retryAfter: nil), 5.0, 3600.0),
        ] {
            let fixture = try PhotoFixture()
            let receipt = try fixture.attached()
            var delays: [TimeInterval] = []
            for _ in 0..<16 {
                fixture.fileServer.next("upload", .fail(failure))
                guard case .failed(_, let date?)? = try await fixture.sync.push().uploads.first?.outcome else {
                    Issue.record("no date")
                    return
                }
                delays.append(date.timeIntervalSince(fixture.clock.now()))
            }
            // The delays contain no random part here.
            let expected = (0..<16).map { min(longest, first * Double(1 << $0)) }
            #expect(zip(delays, expected).allSatisfy { abs($0 - $1) < 0.001 }, "\(delays)")
            try await fixture.sync.push()
            #expect(try fixture.receipt(receipt.localID).isSynced)
        }
    }

    @Test func `a failed file blocks no other file and is retried later and later, across restarts`() async throws {
        let fixture = try PhotoFixture { $0.uploadsInFlight = 1 }
        let first = try fixture.attached("A")
        let second = try fixture.attached("B")
        fixture.fileServer.next("upload", .fail(.refused(status: 403, message: "No.")))
        let result = try await fixture.sync.push()
        guard case .failed(let error, let date?)? = result.uploads.first?.outcome else {
            Issue.record("\(result.uploads)")
            return
        }
        #expect(error.code == .refused)
        #expect(date > fixture.clock.now())
        guard case .uploaded? = result.uploads.last?.outcome else {
            Issue.record("\(result.uploads)")
            return
        }
        #expect(try fixture.receipt(second.localID).isSynced)
        let photo = try #require(first.photo)
        #expect(try fixture.store.attachments.status(of: photo).attempts == 1)

        // An automatic sync waits for the retry time.
        let context = fixture.restarted()
        let waiting = try await context.send(isExplicit: false)
        guard case .waiting(let until)? = waiting.uploads.first?.outcome else {
            Issue.record("\(waiting.uploads)")
            return
        }
        #expect(until == date)
        fixture.clock.advance(by: date.timeIntervalSince(fixture.clock.now()) + 1)
        _ = try await context.send(isExplicit: false)
        #expect(try fixture.receipt(first.localID).isSynced)
    }

    @Test func `the number of concurrent uploads is limited by the option`() async throws {
        for limit in [1, 2, 4] {
            let fixture = try PhotoFixture { $0.uploadsInFlight = limit }
            for number in 0..<6 { try fixture.attached("\(number)", PhotoFixture.bytes(3000, seed: UInt8(number))) }
            try await fixture.sync.push()
            #expect(fixture.fileServer.mostAtOnce <= limit)
            #expect(fixture.fileServer.files.count == 6)
        }
    }

    @Test func `an upload continues after a broken connection`() async throws {
        let fixture = try PhotoFixture()
        try fixture.attached("A", PhotoFixture.bytes(10_000))
        fixture.fileServer.next("upload", .breakAfter(4000))
        try await fixture.sync.push()
        try await fixture.sync.push()
        #expect(fixture.fileServer.files.count == 1)
        #expect(fixture.fileServer.received == 10_000)
    }

    @Test func `a lost response resends no byte`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached("A", PhotoFixture.bytes(10_000))
        fixture.fileServer.next("upload", .loseResponse)
        try await fixture.sync.push()
        #expect(try !fixture.receipt(receipt.localID).isSynced)
        try await fixture.sync.push()
        #expect(fixture.fileServer.received == 10_000)
        #expect(try fixture.receipt(receipt.localID).isSynced)
    }

    @Test func `an unreachable server stops the files and does not count as an attempt`() async throws {
        let fixture = try PhotoFixture { $0.uploadsInFlight = 1 }
        let receipt = try fixture.attached("A")
        try fixture.attached("B")
        fixture.fileServer.next("upload", .fail(.unreachable))
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .unreachable)
        #expect(fixture.fileServer.requests.count == 1)
        let status = try fixture.store.attachments.status(of: #require(receipt.photo))
        #expect(status.attempts == 0)
        #expect(status.state == .pending)
    }

    @Test func `a file server's requested pause applies to all files`() async throws {
        let fixture = try PhotoFixture { $0.uploadsInFlight = 1 }
        try fixture.attached("A")
        try fixture.attached("B")
        fixture.fileServer.next("upload", .fail(.later(status: 503, retryAfter: .seconds(600))))
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .later)
        #expect(fixture.fileServer.requests.count == 1)
        #expect(fixture.sync.pause.end(at: fixture.clock.now()) == fixture.clock.now() + 600)
    }

    @Test func `the progress of uploads is observable`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached("A", PhotoFixture.bytes(3000))
        let photo = try #require(receipt.photo)
        let log = Log()
        let sync = fixture.sync
        fixture.fileServer.whileUploading {
            if case .uploading(let done, let total, let sent, let all)? = sync.statusTracker.status.activity {
                log.note("\(done)/\(total) \(sent)/\(all)")
            }
            if case .uploading(let sent)? = try? await sync.status(of: photo).state { log.note("\(sent)") }
        }
        try await sync.push()
        #expect(log.lines == ["0/1 3000/3000", "3000"])
        #expect(try await sync.status(of: photo).state == .uploaded)
        #expect(sync.statusTracker.status.activity == nil)
    }

    @Test func `a server that sets URLs itself receives none`() async throws {
        let fixture = try PhotoFixture { $0.serverSetsFileURLs = true }
        let receipt = try fixture.attached()
        try await fixture.sync.push()
        #expect(fixture.asked == [.insert])
        #expect(try fixture.receipt(receipt.localID).isSynced)
    }
}
