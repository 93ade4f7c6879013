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
    private func pushed(_ desk: PhotoFixture) async throws -> (id: LocalID, old: Tandem.Attachment) {
        let id = try desk.attached().localID
        try await desk.sync.push()
        desk.remote.forgetRequests()
        desk.shelf.forgetRequests()
        return (id, try #require(try desk.receipt(id).photo))
    }

    private func replace(
        _ desk: PhotoFixture, _ id: LocalID, seed: UInt8 = 9,
        _ change: @escaping @Sendable (inout Receipt) -> Void = { _ in }
    ) async throws -> Tandem.Attachment {
        let photo = try desk.store.attachments.add(PhotoFixture.bytes(seed: seed), name: "\(seed).jpg")
        try await desk.store.write { tx in
            _ = try tx.update(Receipt.self, localID: id) { receipt in
                receipt.photo = photo
                change(&receipt)
            }
        }
        return photo
    }

    private func url(_ file: Tandem.Attachment) -> String { PhotoServer.url(file.id.rawValue) }

    /// A file as the server that has it names it.
    private func named(_ file: Tandem.Attachment) throws -> JSONNode {
        guard case .object(var members) = file.__json else { throw PhotoFixture.Missing() }
        members.append((key: "url", value: .text(url(file))))
        return .object(members)
    }

    @Test func `upload of a new photograph fails, and the server keeps the old URL and file`() async throws {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let (id, old) = try await pushed(desk)
        let new = try await replace(desk, id) { $0.points = 5 }
        desk.shelf.next("upload", .fail(Self.no))
        let failed = try await desk.sync.push()
        #expect(!failed.isComplete)
        // The other change is sent, and the operation waits for its file.
        guard case .done? = failed.entries.first?.outcome else {
            Issue.record("\(failed.entries)")
            return
        }
        #expect(failed.entries.count == 1 && desk.asked == [.update])
        #expect(desk.served(try desk.receipt(id), "points") == .integer(5))
        #expect(desk.served(try desk.receipt(id)) == old.__json)
        #expect(Array(desk.shelf.files.keys) == [url(old)])
        #expect(try desk.receipt(id).photo == new && !desk.receipt(id).isSynced)
        guard case .waitingForFiles(1, let reason?)? = try await desk.sync.state(of: desk.receipt(id)) else {
            Issue.record("\(String(describing: try await desk.sync.state(of: desk.receipt(id))))")
            return
        }
        #expect(reason.contains("No."))
        #expect(try desk.store.checkIntegrity() == [])

        // The file is uploaded, and the request with the URL is lost.
        desk.remote.next(.loseRequest, on: .update)
        try await desk.sync.attemptPush()
        #expect(desk.served(try desk.receipt(id)) == old.__json)
        #expect(Set(desk.shelf.files.keys) == [url(old), url(new)])

        #expect(try await desk.sync.push().isComplete)
        let here = try desk.receipt(id)
        #expect(here.isSynced && here.photo?.id == new.id)
        #expect(desk.served(here) == here.photo?.__json)
        #expect(Array(desk.shelf.files.keys) == [url(new)])
        #expect(desk.shelf.requests.last == "delete \(url(old))")
        #expect(try desk.store.checkIntegrity() == [])
        #expect(try await !desk.sync.hasToSend())
    }

    @Test func `replacement of a file that is sent as a URL keeps the old URL`() async throws {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        try desk.sync.table(Receipt.self).setAttachments(\.photo, as: .urlText)
        let (id, old) = try await pushed(desk)
        let new = try await replace(desk, id) { $0.points = 5 }
        desk.shelf.next("upload", .fail(Self.no))
        try await desk.sync.push()
        #expect(desk.served(try desk.receipt(id)) == .text(url(old)))
        #expect(try desk.receipt(id).photo == new)
        #expect(Array(desk.shelf.files.keys) == [url(old)])
        #expect(try await desk.sync.push().isComplete)
        #expect(desk.served(try desk.receipt(id)) == .text(url(new)))
        #expect(Array(desk.shelf.files.keys) == [url(new)])
        #expect(try desk.store.checkIntegrity() == [])
    }

    @Test func `replacement alone makes one update, after the upload`() async throws {
        let desk = try PhotoFixture()
        let (id, old) = try await pushed(desk)
        _ = try await replace(desk, id)
        desk.shelf.next("upload", .fail(Self.no))
        let failed = try await desk.sync.push()
        #expect(failed.entries.isEmpty && desk.asked.isEmpty)
        #expect(desk.served(try desk.receipt(id)) == old.__json)
        #expect(try desk.store.operations.all().map(\.changedProperties) == [["photo"]])
        #expect(try await desk.sync.push().isComplete)
        #expect(desk.asked == [.update])
        #expect(desk.served(try desk.receipt(id)) == (try desk.receipt(id)).photo?.__json)
        // Without the option no file is deleted.
        #expect(desk.shelf.files.count == 2)
    }

    @Test func `several replaced photographs make their updates together, at the end`() async throws {
        let log = Log()
        let desk = try PhotoFixture {
            $0.uploadsInFlight = 1
            $0.onFileStep = { if case .answered = $0 { log.note("file") } }
            $0.onPushStep = { if case .answered = $0 { log.note("object") } }
        }
        var ids: [LocalID] = []
        for number in 0..<3 { ids.append(try desk.attached("\(number)").localID) }
        try await desk.sync.push()
        for (number, id) in ids.enumerated() { _ = try await replace(desk, id, seed: UInt8(number + 1)) }
        let before = log.lines.count
        #expect(try await desk.sync.push().isComplete)
        #expect(Array(log.lines.dropFirst(before)) == ["file", "file", "file", "object", "object", "object"])
    }

    @Test func `replacement in a list keeps the old file in its place, and a removed one leaves at once`() async throws
    {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let id = try await desk.synced().localID
        let names = ["a", "b", "c"]
        let first = try names.map { try desk.store.attachments.add(Array($0.utf8), name: $0) }
        try await desk.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.scans = first } }
        try await desk.sync.push()
        let old = try desk.receipt(id).scans
        let new = try desk.store.attachments.add([7], name: "d")
        try await desk.store.write { tx in _ = try tx.update(Receipt.self, localID: id) { $0.scans = [new, old[1]] } }
        desk.shelf.next("upload", .fail(Self.no))
        try await desk.sync.push()
        #expect(desk.served(try desk.receipt(id), "scans") == .array([old[0].__json, old[1].__json]))
        #expect(try desk.receipt(id).scans.map(\.id) == [new.id, old[1].id])
        #expect(desk.shelf.files[url(old[0])] != nil)
        #expect(try await desk.sync.push().isComplete)
        let here = try desk.receipt(id)
        #expect(here.isSynced && here.scans.map(\.id) == [new.id, old[1].id])
        #expect(desk.served(here, "scans") == .array(here.scans.map(\.__json)))
        #expect(try desk.store.checkIntegrity() == [])
    }

    @Test func `file replaced twice before its upload is never sent, and the first one stays until the last`()
        async throws
    {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let (id, old) = try await pushed(desk)
        let second = try await replace(desk, id, seed: 2)
        try await desk.restarted(withFiles: false).push()
        let third = try await replace(desk, id, seed: 3)
        try await desk.restarted(withFiles: false).push()
        #expect(desk.asked.isEmpty && desk.isGone(second))
        #expect(desk.served(try desk.receipt(id)) == old.__json)
        #expect(try await desk.sync.push().isComplete)
        #expect(desk.shelf.requests == ["upload \(third.id)", "delete \(url(old))"])
        #expect(Array(desk.shelf.files.keys) == [url(third)])
    }

    @Test func `file replaced again while the URL's answer is lost lets both older ones go`() async throws {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let (id, old) = try await pushed(desk)
        let second = try await replace(desk, id, seed: 2)
        desk.remote.next(.loseAnswer, on: .update)
        try await desk.sync.attemptPush()
        #expect(desk.shelf.files.count == 2)
        let third = try await replace(desk, id, seed: 3)
        #expect(try await desk.sync.push().isComplete)
        #expect(Array(desk.shelf.files.keys) == [url(third)], "\(old), \(second)")
        #expect(desk.served(try desk.receipt(id)) == (try desk.receipt(id)).photo?.__json)
        #expect(try await !desk.sync.hasToSend())
    }

    @Test func `file replaced while the URL of the one before is on its way lets both go`() async throws {
        let (log, place) = (Log(), Synchronized<(Store, LocalID, Tandem.Attachment)?>(nil))
        let desk = try PhotoFixture { options in
            options.deletesFiles = true
            options.onPushStep = { step in
                guard case .answered = step, log.lines.isEmpty, let (store, id, photo) = place.value else { return }
                log.note("replaced")
                try await store.write { tx in _ = try tx.update(Receipt.self, localID: id) { $0.photo = photo } }
            }
        }
        let (id, _) = try await pushed(desk)
        _ = try await replace(desk, id, seed: 2)
        let third = try desk.store.attachments.add(PhotoFixture.bytes(seed: 3), name: "3.jpg")
        let store = desk.store
        place.change { $0 = (store, id, third) }
        for _ in 0..<2 { try await desk.sync.push() }
        #expect(log.lines == ["replaced"])
        #expect(Array(desk.shelf.files.keys) == [url(third)])
        #expect(try desk.receipt(id).isSynced)
        #expect(try desk.store.checkIntegrity() == [])
    }

    @Test func `replacement that is taken back sends nothing`() async throws {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let (id, old) = try await pushed(desk)
        let new = try await replace(desk, id)
        try await desk.restarted(withFiles: false).push()
        try await desk.store.write { _ = try $0.update(Receipt.self, localID: id) { $0.photo = old } }
        #expect(try await desk.sync.push().isComplete)
        #expect(desk.asked.isEmpty && desk.shelf.requests.isEmpty && desk.isGone(new))
        #expect(try desk.receipt(id).isSynced && desk.receipt(id).photo == old)
        #expect(Array(desk.shelf.files.keys) == [url(old)])
    }

    @Test func `replacement that is discarded shows the old file again, which can be downloaded`() async throws {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let (id, old) = try await pushed(desk)
        _ = try await replace(desk, id)
        try await desk.restarted(withFiles: false).push()
        let operation = try #require(try desk.store.operations.all().first)
        #expect(try await desk.sync.discard(operation.id).keys.sorted() == ["photo"])
        #expect(try desk.receipt(id).photo == old && desk.receipt(id).isSynced)
        try await desk.sync.push()
        try await desk.sync.download(old)
        #expect(try Array(desk.store.attachments.data(of: old)) == PhotoFixture.bytes())
        #expect(try desk.store.checkIntegrity() == [])
    }

    @Test func `old file that another object lets go of stays while the replacement waits`() async throws {
        let desk = try PhotoFixture { $0.deletesFiles = true }
        let (id, old) = try await pushed(desk)
        let copy = try await desk.store.write { try $0.insert(Receipt(shop: "копия", photo: old)) }.localID
        try await desk.sync.push()
        _ = try await replace(desk, id)
        let offline = desk.restarted(withFiles: false)
        try await offline.push()
        try await desk.store.write { _ = try $0.delete(Receipt.self, localID: copy) }
        desk.shelf.next("upload", .fail(Self.no))
        try await desk.sync.push()
        #expect(desk.shelf.files[url(old)] != nil)
        #expect(desk.served(try desk.receipt(id)) == old.__json)
        try await desk.sync.push()
        #expect(desk.shelf.files[url(old)] == nil)
    }

    @Test(arguments: FileConflictTests.rules.indices)
    func `replacement meets another property's change without a conflict`(index: Int) async throws {
        let desk = try PhotoFixture()
        try desk.sync.table(Receipt.self).setConflicts(FileConflictTests.rules[index].1)
        let (id, _) = try await pushed(desk)
        let new = try await replace(desk, id)
        try await desk.restarted(withFiles: false).push()
        desk.remote.edit("Receipt", id: ServerID(id.rawValue)) { $0.put("points", .integer(77)) }
        let result = try await desk.sync.synchronize()
        #expect(result.isComplete, "\(FileConflictTests.rules[index].0): \(result)")
        let here = try desk.receipt(id)
        #expect(here.points == 77 && here.isSynced && here.photo?.id == new.id)
        #expect(desk.served(here) == here.photo?.__json)
        #expect(desk.served(here, "points") == .integer(77))
    }

    @Test(arguments: [true, false])
    func `replacement meets another file in the same place by the conflict policy`(takesTheirs: Bool) async throws {
        let theirs = Attachment(atServerURL: "https://shelf.example/theirs.jpg")
        let desk = try PhotoFixture()
        try desk.sync.table(Receipt.self).setConflicts(takesTheirs ? .serverWins : .clientWins)
        let (id, _) = try await pushed(desk)
        let new = try await replace(desk, id)
        try await desk.restarted(withFiles: false).push()
        desk.remote.edit("Receipt", id: ServerID(id.rawValue)) { $0.put("photo", theirs.__json) }
        try await desk.sync.pull(Receipt.self, queryID: "all")
        #expect(try desk.receipt(id).photo == new)
        let result = try await desk.sync.push()
        let here = try desk.receipt(id)
        #expect(here.isSynced)
        if takesTheirs {
            #expect(here.photo == theirs && desk.isGone(new))
            #expect(desk.shelf.files.count == 1)
        } else {
            #expect(here.photo?.id == new.id && result.isComplete)
            #expect(desk.served(here) == here.photo?.__json)
        }
        #expect(try desk.store.operations.count() == 0)
    }

    @Test func `replacement waits where the server sets URLs, and is confirmed by one update`() async throws {
        let place = Synchronized<(ScriptedRemote, ServerID, JSONNode)?>(nil)
        let desk = try PhotoFixture { options in
            (options.serverSetsFileURLs, options.deletesFiles) = (true, true)
            options.onFileStep = { step in
                guard case .answered = step, let (remote, id, photo) = place.value else { return }
                remote.edit("Receipt", id: id) { $0.put("photo", photo) }
            }
        }
        let (id, old) = try await pushed(desk)
        desk.remote.edit("Receipt", id: ServerID(id.rawValue)) { $0.put("photo", old.__json) }
        try await desk.sync.pull(Receipt.self, queryID: "all")
        let new = try await replace(desk, id)
        let (remote, word) = (desk.remote, try named(new))
        place.change { $0 = (remote, ServerID(id.rawValue), word) }
        #expect(try await desk.sync.push().isComplete)
        #expect(desk.served(try desk.receipt(id)) == word)
        #expect(try desk.receipt(id).isSynced && desk.receipt(id).photo?.serverURL == url(new))
        #expect(Array(desk.shelf.files.keys) == [url(new)])
        #expect(try desk.store.operations.count() == 0)
        #expect(try desk.store.checkIntegrity() == [])
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
            let desk = try PhotoFixture { options in
                options.deletesFiles = true
                options.onPushStep = { _ in try step() }
                options.onFileStep = { _ in try step() }
            }
            let (id, old) = try await pushed(desk)
            let new = try await replace(desk, id) { $0.points = 5 }
            isArmed.change { $0 = true }
            do {
                try await desk.sync.push()
                isOver = true
            } catch is Cut {
            }
            for push in 0..<3 {
                let here = try desk.receipt(id)
                let served = try #require(desk.served(here))
                #expect(try served == old.__json || served == named(new), "step \(last), push \(push)")
                #expect(
                    desk.shelf.files[served == old.__json ? url(old) : url(new)] != nil, "step \(last), push \(push)")
                try await desk.restarted { $0.deletesFiles = true }.push()
            }
            #expect(try desk.receipt(id).isSynced, "step \(last)")
            #expect(Array(desk.shelf.files.keys) == [url(new)], "step \(last)")
            #expect(try desk.store.checkIntegrity() == [], "step \(last)")
        }
        #expect(last > 6)
    }
}
