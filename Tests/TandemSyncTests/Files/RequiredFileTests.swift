import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A required attachment: its object is sent to the server before the file.
@Suite(.ownThreads) struct RequiredFileTests {
    /// A passport that the server knows, with a scan that the server does not have yet.
    private func waiting(_ fixture: PhotoFixture) async throws -> Passport {
        let scan = try fixture.store.attachments.add(PhotoFixture.bytes(), name: "паспорт.jpg")
        let passport = try await fixture.store.write { try $0.insert(Passport(holder: "45 08", scan: scan)) }
        try await fixture.restarted(withFiles: false).push()
        #expect(fixture.remote.items(in: "Passport").count == 1)
        #expect(try fixture.store.operations.count() == 0)
        return passport
    }

    @Test func `a tombstone is a conflict if only this device has the file`() async throws {
        let fixture = try PhotoFixture()
        try fixture.sync.table(Passport.self).setConflicts(.clientWins)
        let passport = try await waiting(fixture)
        fixture.remote.remove("Passport", id: ServerID(passport.localID.rawValue))
        let context = fixture.restarted(withFiles: false)
        try await context.pull(Passport.self, queryID: "all")
        #expect(try Array(fixture.store.attachments.data(of: passport.scan)) == PhotoFixture.bytes())
        try await fixture.sync.synchronize()
        let here = try #require(try await fixture.store.objects(Passport.self).all().first)
        #expect(here.isSynced)
        #expect(here.scan.serverURL != nil)
        #expect(fixture.remote.items(in: "Passport").count == 1)
    }

    @Test func `a pending file is among the lost values if the server's delete wins`() async throws {
        let fixture = try PhotoFixture()
        try fixture.sync.table(Passport.self).setConflicts(.serverWins)
        let passport = try await waiting(fixture)
        fixture.remote.remove("Passport", id: ServerID(passport.localID.rawValue))
        let result = try await fixture.sync.synchronize()
        #expect(result.lostEdits.first?.values["scan"] != nil)
        #expect(try await fixture.store.objects(Passport.self).all().isEmpty)
        #expect(fixture.fileServer.requests.isEmpty)
        #expect(fixture.isGone(passport.scan))
    }

    @Test func `a full pull that does not list the object keeps it`() async throws {
        let fixture = try PhotoFixture(softDelete: false)
        let passport = try await waiting(fixture)
        fixture.remote.remove("Passport", id: ServerID(passport.localID.rawValue))
        try await fixture.restarted(withFiles: false).pull(Passport.self)
        #expect(try Array(fixture.store.attachments.data(of: passport.scan)) == PhotoFixture.bytes())
    }

    @Test func `another client's replacement of a pending file is accepted`() async throws {
        let fixture = try PhotoFixture()
        let theirs = Attachment(atServerURL: "https://shelf.example/theirs.jpg")
        let passport = try await waiting(fixture)
        fixture.remote.edit("Passport", id: ServerID(passport.localID.rawValue)) { $0.put("scan", theirs.__json) }
        try await fixture.sync.synchronize()
        #expect(try await fixture.store.objects(Passport.self).all().map(\.scan) == [theirs])
        #expect(fixture.isGone(passport.scan))
        #expect(try await fixture.store.objects(Passport.self).all().allSatisfy(\.isSynced))
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `another client's pending replacement is not overwritten`() async throws {
        let fixture = try PhotoFixture()
        let passport = try await waiting(fixture)
        let (store, sync) = try fixture.other()
        let offline = fixture.restarted(withFiles: false, on: store)
        try await offline.pull(Passport.self, queryID: "all")
        let theirs = try store.attachments.add([7, 7, 7], name: "новый.jpg")
        try await store.write { _ = try $0.update(Passport.self, localID: passport.localID) { $0.scan = theirs } }
        try await offline.push()
        try await fixture.restarted(withFiles: false).pull(Passport.self, queryID: "all")
        try await fixture.sync.push()
        try await sync.synchronize()
        try await fixture.sync.synchronize()
        for store in [store, fixture.store] {
            #expect(try await store.objects(Passport.self).all().map(\.scan.id) == [theirs.id])
            #expect(try await store.objects(Passport.self).all().allSatisfy(\.isSynced))
            #expect(try store.checkIntegrity() == [])
        }
        #expect(fixture.fileServer.files[PhotoServer.url(theirs.id.rawValue)] != nil)
    }

    @Test func `an object whose file is lost is removed by a tombstone`() async throws {
        let fixture = try PhotoFixture()
        let lost = JSONNode.object([("id", .text("00c0ffee00c0ffee00c0ffee00c0ffee")), ("name", .text("x"))])
        fixture.remote.edit("Passport", id: "p1") { item in
            item.put("holder", .text("1"))
            item.put("scan", lost)
        }
        try await fixture.sync.pull(Passport.self, queryID: "all")
        let here = try #require(try await fixture.store.objects(Passport.self).all().first)
        #expect(here.isSynced)
        fixture.remote.remove("Passport", id: "p1")
        try await fixture.sync.pull(Passport.self, queryID: "all")
        #expect(try await fixture.store.objects(Passport.self).all().isEmpty)
        #expect(try fixture.store.operations.count() == 0)
    }
}
