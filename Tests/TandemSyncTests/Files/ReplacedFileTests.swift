import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A file that replaces another one. The server keeps the old file until the new one is uploaded and named there.
@Suite(.ownThreads) struct ReplacedFileTests {
    private static let no = RemoteFailure.refused(status: 403, message: "No.")

    /// A receipt whose photograph the server has.
    private func pushed(_ fixture: PhotoFixture) async throws -> (id: LocalID, old: Attachment) {
        let id = try fixture.attached().localID
        try await fixture.sync.push()
        fixture.remote.forgetRequests()
        fixture.fileServer.forgetRequests()
        return (id, try #require(try fixture.receipt(id).photo))
    }

    private func replace(
        _ fixture: PhotoFixture, _ id: LocalID, seed: UInt8 = 9,
        _ change: @escaping @Sendable (inout Receipt) -> Void = { _ in }
    ) async throws -> Attachment {
        let photo = try fixture.store.attachments.add(PhotoFixture.bytes(seed: seed), name: "\(seed).jpg")
        try await fixture.store.write { tx in
            _ = try tx.update(Receipt.self, localID: id) { receipt in
                receipt.photo = photo
                change(&receipt)
            }
        }
        return photo
    }

    private func url(_ file: Attachment) -> String { PhotoServer.url(file.id.rawValue) }

    /// A file as the server that has it names it.
    private func named(_ file: Attachment) throws -> JSONNode {
        guard case .object(var members) = file.__json else { throw PhotoFixture.Missing() }
        members.append((key: "url", value: .text(url(file))))
        return .object(members)
    }

    @Test func `upload of a new photograph fails, and the server keeps the old URL and file`() async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let (id, old) = try await pushed(fixture)
        let new = try await replace(fixture, id) { $0.points = 5 }
        fixture.fileServer.next("upload", .fail(Self.no))
        let failed = try await fixture.sync.push()
        #expect(!failed.isComplete)
        // The other change is sent, and the operation waits for its file.
        guard case .done? = failed.entries.first?.outcome else {
            Issue.record("\(failed.entries)")
            return
        }
        #expect(failed.entries.count == 1 && fixture.asked == [.update])
        #expect(fixture.served(try fixture.receipt(id), "points") == .integer(5))
        #expect(fixture.served(try fixture.receipt(id)) == old.__json)
        #expect(Array(fixture.fileServer.files.keys) == [url(old)])
        #expect(try fixture.receipt(id).photo == new && !fixture.receipt(id).isSynced)
        guard case .waitingForFiles(1, let reason?)? = try await fixture.sync.state(of: fixture.receipt(id)) else {
            Issue.record("\(String(describing: try await fixture.sync.state(of: fixture.receipt(id))))")
            return
        }
        #expect(reason.contains("No."))
        #expect(try fixture.store.checkIntegrity() == [])

        // The file is uploaded, and the request with the URL is lost.
        fixture.remote.next(.loseRequest, on: .update)
        try await fixture.sync.attemptPush()
        #expect(fixture.served(try fixture.receipt(id)) == old.__json)
        #expect(Set(fixture.fileServer.files.keys) == [url(old), url(new)])

        #expect(try await fixture.sync.push().isComplete)
        let here = try fixture.receipt(id)
        #expect(here.isSynced && here.photo?.id == new.id)
        #expect(fixture.served(here) == here.photo?.__json)
        #expect(Array(fixture.fileServer.files.keys) == [url(new)])
        #expect(fixture.fileServer.requests.last == "delete \(url(old))")
        #expect(try fixture.store.checkIntegrity() == [])
        #expect(try await !fixture.sync.hasToSend())
    }

    @Test func `replacement of a file that is sent as a URL keeps the old URL`() async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        try fixture.sync.table(Receipt.self).setAttachments(\.photo, as: .urlText)
        let (id, old) = try await pushed(fixture)
        let new = try await replace(fixture, id) { $0.points = 5 }
        fixture.fileServer.next("upload", .fail(Self.no))
        try await fixture.sync.push()
        #expect(fixture.served(try fixture.receipt(id)) == .text(url(old)))
        #expect(try fixture.receipt(id).photo == new)
        #expect(Array(fixture.fileServer.files.keys) == [url(old)])
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.served(try fixture.receipt(id)) == .text(url(new)))
        #expect(Array(fixture.fileServer.files.keys) == [url(new)])
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `replacement alone makes one update, after the upload`() async throws {
        let fixture = try PhotoFixture()
        let (id, old) = try await pushed(fixture)
        _ = try await replace(fixture, id)
        fixture.fileServer.next("upload", .fail(Self.no))
        let failed = try await fixture.sync.push()
        #expect(failed.entries.isEmpty && fixture.asked.isEmpty)
        #expect(fixture.served(try fixture.receipt(id)) == old.__json)
        #expect(try fixture.store.operations.all().map(\.changedProperties) == [["photo"]])
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.asked == [.update])
        #expect(fixture.served(try fixture.receipt(id)) == (try fixture.receipt(id)).photo?.__json)
        // Without the option no file is deleted.
        #expect(fixture.fileServer.files.count == 2)
    }

    @Test func `several replaced photographs make their updates together, at the end`() async throws {
        let log = Log()
        let fixture = try PhotoFixture {
            $0.uploadsInFlight = 1
            $0.onFileStep = { if case .responded = $0 { log.note("file") } }
            $0.onPushStep = { if case .responded = $0 { log.note("object") } }
        }
        var ids: [LocalID] = []
        for number in 0..<3 { ids.append(try fixture.attached("\(number)").localID) }
        try await fixture.sync.push()
        for (number, id) in ids.enumerated() { _ = try await replace(fixture, id, seed: UInt8(number + 1)) }
        let before = log.lines.count
        #expect(try await fixture.sync.push().isComplete)
        #expect(Array(log.lines.dropFirst(before)) == ["file", "file", "file", "object", "object", "object"])
    }

    @Test func `replacement in a list keeps the old file in its place, and a removed one leaves at once`() async throws
    {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let id = try await fixture.synced().localID
        let names = ["a", "b", "c"]
        let first = try names.map { try fixture.store.attachments.add(Array($0.utf8), name: $0) }
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.scans = first } }
        try await fixture.sync.push()
        let old = try fixture.receipt(id).scans
        let new = try fixture.store.attachments.add([7], name: "d")
        try await fixture.store.write { tx in _ = try tx.update(Receipt.self, localID: id) { $0.scans = [new, old[1]] }
        }
        fixture.fileServer.next("upload", .fail(Self.no))
        try await fixture.sync.push()
        #expect(fixture.served(try fixture.receipt(id), "scans") == .array([old[0].__json, old[1].__json]))
        #expect(try fixture.receipt(id).scans.map(\.id) == [new.id, old[1].id])
        #expect(fixture.fileServer.files[url(old[0])] != nil)
        #expect(try await fixture.sync.push().isComplete)
        let here = try fixture.receipt(id)
        #expect(here.isSynced && here.scans.map(\.id) == [new.id, old[1].id])
        #expect(fixture.served(here, "scans") == .array(here.scans.map(\.__json)))
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `file replaced twice before its upload is never sent, and the first one stays until the last`()
        async throws
    {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let (id, old) = try await pushed(fixture)
        let second = try await replace(fixture, id, seed: 2)
        try await fixture.restarted(withFiles: false).push()
        let third = try await replace(fixture, id, seed: 3)
        try await fixture.restarted(withFiles: false).push()
        #expect(fixture.asked.isEmpty && fixture.isGone(second))
        #expect(fixture.served(try fixture.receipt(id)) == old.__json)
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.fileServer.requests == ["upload \(third.id)", "delete \(url(old))"])
        #expect(Array(fixture.fileServer.files.keys) == [url(third)])
    }

    @Test func `file replaced again while the URL's response is lost lets both older ones go`() async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let (id, old) = try await pushed(fixture)
        let second = try await replace(fixture, id, seed: 2)
        fixture.remote.next(.loseResponse, on: .update)
        try await fixture.sync.attemptPush()
        #expect(fixture.fileServer.files.count == 2)
        let third = try await replace(fixture, id, seed: 3)
        #expect(try await fixture.sync.push().isComplete)
        #expect(Array(fixture.fileServer.files.keys) == [url(third)], "\(old), \(second)")
        #expect(fixture.served(try fixture.receipt(id)) == (try fixture.receipt(id)).photo?.__json)
        #expect(try await !fixture.sync.hasToSend())
    }

    @Test func `file replaced while the URL of the one before is on its way lets both go`() async throws {
        let (log, place) = (Log(), Synchronized<(Store, LocalID, Attachment)?>(nil))
        let fixture = try PhotoFixture { options in
            options.deletesFiles = true
            options.onPushStep = { step in
                guard case .responded = step, log.lines.isEmpty, let (store, id, photo) = place.value else { return }
                log.note("replaced")
                try await store.write { tx in _ = try tx.update(Receipt.self, localID: id) { $0.photo = photo } }
            }
        }
        let (id, _) = try await pushed(fixture)
        _ = try await replace(fixture, id, seed: 2)
        let third = try fixture.store.attachments.add(PhotoFixture.bytes(seed: 3), name: "3.jpg")
        let store = fixture.store
        place.change { $0 = (store, id, third) }
        for _ in 0..<2 { try await fixture.sync.push() }
        #expect(log.lines == ["replaced"])
        #expect(Array(fixture.fileServer.files.keys) == [url(third)])
        #expect(try fixture.receipt(id).isSynced)
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `replacement that is taken back sends nothing`() async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let (id, old) = try await pushed(fixture)
        let new = try await replace(fixture, id)
        try await fixture.restarted(withFiles: false).push()
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.photo = old } }
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.asked.isEmpty && fixture.fileServer.requests.isEmpty && fixture.isGone(new))
        #expect(try fixture.receipt(id).isSynced && fixture.receipt(id).photo == old)
        #expect(Array(fixture.fileServer.files.keys) == [url(old)])
    }

    @Test func `replacement that is discarded shows the old file again, which can be downloaded`() async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let (id, old) = try await pushed(fixture)
        _ = try await replace(fixture, id)
        try await fixture.restarted(withFiles: false).push()
        let operation = try #require(try fixture.store.operations.all().first)
        #expect(try await fixture.sync.discard(operation.id).keys.sorted() == ["photo"])
        #expect(try fixture.receipt(id).photo == old && fixture.receipt(id).isSynced)
        try await fixture.sync.push()
        try await fixture.sync.download(old)
        #expect(try Array(fixture.store.attachments.data(of: old)) == PhotoFixture.bytes())
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `old file that another object lets go of stays while the replacement waits`() async throws {
        let fixture = try PhotoFixture { $0.deletesFiles = true }
        let (id, old) = try await pushed(fixture)
        let copy = try await fixture.store.write { try $0.insert(Receipt(shop: "копия", photo: old)) }.localID
        try await fixture.sync.push()
        _ = try await replace(fixture, id)
        let offline = fixture.restarted(withFiles: false)
        try await offline.push()
        try await fixture.store.write { _ = try $0.delete(Receipt.self, localID: copy) }
        fixture.fileServer.next("upload", .fail(Self.no))
        try await fixture.sync.push()
        #expect(fixture.fileServer.files[url(old)] != nil)
        #expect(fixture.served(try fixture.receipt(id)) == old.__json)
        try await fixture.sync.push()
        #expect(fixture.fileServer.files[url(old)] == nil)
    }

    @Test(arguments: FileConflictTests.rules.indices)
    func `replacement meets another property's change without a conflict`(index: Int) async throws {
        let fixture = try PhotoFixture()
        try fixture.sync.table(Receipt.self).setConflicts(FileConflictTests.rules[index].1)
        let (id, _) = try await pushed(fixture)
        let new = try await replace(fixture, id)
        try await fixture.restarted(withFiles: false).push()
        fixture.remote.edit("Receipt", id: ServerID(id.rawValue)) { $0.put("points", .integer(77)) }
        let result = try await fixture.sync.synchronize()
        #expect(result.isComplete, "\(FileConflictTests.rules[index].0): \(result)")
        let here = try fixture.receipt(id)
        #expect(here.points == 77 && here.isSynced && here.photo?.id == new.id)
        #expect(fixture.served(here) == here.photo?.__json)
        #expect(fixture.served(here, "points") == .integer(77))
    }

    @Test(arguments: [true, false])
    func `replacement meets another file in the same place by the conflict policy`(takesTheirs: Bool) async throws {
        let theirs = Attachment(atServerURL: "https://shelf.example/theirs.jpg")
        let fixture = try PhotoFixture()
        try fixture.sync.table(Receipt.self).setConflicts(takesTheirs ? .serverWins : .clientWins)
        let (id, _) = try await pushed(fixture)
        let new = try await replace(fixture, id)
        try await fixture.restarted(withFiles: false).push()
        fixture.remote.edit("Receipt", id: ServerID(id.rawValue)) { $0.put("photo", theirs.__json) }
        try await fixture.sync.pull(Receipt.self, queryID: "all")
        #expect(try fixture.receipt(id).photo == new)
        let result = try await fixture.sync.push()
        let here = try fixture.receipt(id)
        #expect(here.isSynced)
        if takesTheirs {
            #expect(here.photo == theirs && fixture.isGone(new))
            #expect(fixture.fileServer.files.count == 1)
        } else {
            #expect(here.photo?.id == new.id && result.isComplete)
            #expect(fixture.served(here) == here.photo?.__json)
        }
        #expect(try fixture.store.operations.count() == 0)
    }

    @Test func `replacement waits where the server sets URLs, and is confirmed by one update`() async throws {
        let place = Synchronized<(ScriptedRemote, ServerID, JSONNode)?>(nil)
        let fixture = try PhotoFixture { options in
            (options.serverSetsFileURLs, options.deletesFiles) = (true, true)
            options.onFileStep = { step in
                guard case .responded = step, let (remote, id, photo) = place.value else { return }
                remote.edit("Receipt", id: id) { $0.put("photo", photo) }
            }
        }
        let (id, old) = try await pushed(fixture)
        fixture.remote.edit("Receipt", id: ServerID(id.rawValue)) { $0.put("photo", old.__json) }
        try await fixture.sync.pull(Receipt.self, queryID: "all")
        let new = try await replace(fixture, id)
        let (remote, word) = (fixture.remote, try named(new))
        place.change { $0 = (remote, ServerID(id.rawValue), word) }
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.served(try fixture.receipt(id)) == word)
        #expect(try fixture.receipt(id).isSynced && fixture.receipt(id).photo?.serverURL == url(new))
        #expect(Array(fixture.fileServer.files.keys) == [url(new)])
        #expect(try fixture.store.operations.count() == 0)
        #expect(try fixture.store.checkIntegrity() == [])
    }

    /// The push is interrupted at one step after the other. Another push then continues.
    @Test func `push that is interrupted at any step leaves a URL on the server whose file exists`() async throws {
        struct Cut: Error {}
        var (last, isOver) = (0, false)
        while !isOver {
            last += 1
            let (steps, isArmed, limit) = (Counter(), Synchronized(false), last)
            let step: @Sendable () throws -> Void = {
                if isArmed.value, steps.next() >= limit { throw Cut() }
            }
            let fixture = try PhotoFixture { options in
                options.deletesFiles = true
                options.onPushStep = { _ in try step() }
                options.onFileStep = { _ in try step() }
            }
            let (id, old) = try await pushed(fixture)
            let new = try await replace(fixture, id) { $0.points = 5 }
            isArmed.change { $0 = true }
            do {
                try await fixture.sync.push()
                isOver = true
            } catch is Cut {
            }
            for push in 0..<3 {
                let here = try fixture.receipt(id)
                let served = try #require(fixture.served(here))
                #expect(try served == old.__json || served == named(new), "step \(last), push \(push)")
                #expect(
                    fixture.fileServer.files[served == old.__json ? url(old) : url(new)] != nil,
                    "step \(last), push \(push)")
                try await fixture.restarted { $0.deletesFiles = true }.push()
            }
            #expect(try fixture.receipt(id).isSynced, "step \(last)")
            #expect(Array(fixture.fileServer.files.keys) == [url(new)], "step \(last)")
            #expect(try fixture.store.checkIntegrity() == [], "step \(last)")
        }
        #expect(last > 6)
    }
}
