import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A full pull begins again with the first item if resuming could miss something.
@Suite(.ownThreads) struct PullBeginAgainTests {
    private let lost = RemoteFailure.lost(URLError(.networkConnectionLost))

    /// A device whose pull was interrupted after three of seven pages.
    private func interrupted(hasClock: Bool = true) async throws -> PagedDevice {
        let device = try PagedDevice(.ofTwenty(hasClock: hasClock))
        device.server.fail(from: 4, lost)
        await #expect(throws: SyncError.self) { try await device.pull(nil) }
        #expect(try await device.token("\u{0}resume") != nil || !hasClock)
        device.server.recover()
        return device
    }

    private func expectEqual(_ device: PagedDevice) async throws {
        #expect(try device.pets() == device.server.live)
        #expect(try await device.token("\u{0}resume") == nil)
        #expect(try device.store.checkIntegrity() == [])
    }

    // MARK: On this side

    @Test func `a pull with another filter begins again`() async throws {
        let device = try await interrupted()
        try await device.context.pull(Pet.self) { $0.name != "x" }
        #expect(device.server.walk == PagedServer.walk(from: 1))
        // The first filter's progress is older than the other's pull, and was removed.
        device.server.recover()
        try await device.pull(nil)
        #expect(device.server.walk == PagedServer.walk(from: 1))
        try await expectEqual(device)
    }

    @Test func `a pull with the same filter resumes`() async throws {
        let device = try PagedDevice(.ofTwenty())
        device.server.fail(from: 4, lost)
        await #expect(throws: SyncError.self) { try await device.context.pull(Pet.self) { $0.name != "x" } }
        device.server.recover()
        try await device.context.pull(Pet.self) { $0.name != "x" }
        #expect(device.server.walk == ["count"] + PagedServer.walk(from: 4) + ["changes"])
        try await expectEqual(device)
    }

    enum Removal: CaseIterable { case purge, filteredPurge, queryPurge, adoption }

    @Test(arguments: Removal.allCases)
    func `a pull after a purge or an adoption begins again`(removal: Removal) async throws {
        let device = try await interrupted()
        switch removal {
        case .purge: try await device.context.purge(Pet.self)
        case .filteredPurge: try await device.context.purge(Pet.self) { $0.name == "pet 3" }
        case .queryPurge: try await device.context.purge(Pet.self, queryID: "pets") { $0.name == "pet 3" }
        case .adoption: try await device.context.adopt(.keep)
        }
        try await device.pull(nil)
        #expect(device.server.walk == PagedServer.walk(from: 1))
        try await expectEqual(device)
    }

    @Test(arguments: [23.0, 25]) func `a pull that is older than a day begins again`(hours: Double) async throws {
        let device = try await interrupted()
        device.server.change { $0.now += Int64(hours * 3_600_000) }
        try await device.pull(nil)
        #expect(device.server.walk.contains("after -") == (hours > 24))
        try await expectEqual(device)
    }

    /// Two versions of an app.
    enum Old {
        @Model struct Tag {
            @Named(wire: "petName") var name: String
        }
    }

    enum New {
        @Model struct Tag {
            @Named(wire: "petName") var name: String
            var colour: String?
        }
    }

    @Test(arguments: [false, true])
    func `a pull after a migration that adds a property begins again`(migrates: Bool) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path(of: "store.tandem")
        let server = PagedServer.ofTwenty()
        let options = try PagedDevice(server).options
        let old = try Store(at: path, models: Old.Tag.self)
        server.fail(from: 4, lost)
        await #expect(throws: SyncError.self) {
            try await SyncContext(store: old, remote: server, options: options).pull(Old.Tag.self)
        }
        old.close()
        server.recover()
        let query = PullQuery(table: "Tag", queryID: nil)
        let store = try migrates ? Store(at: path, models: New.Tag.self) : Store(at: path, models: Old.Tag.self)
        defer { store.close() }
        try await SyncContext(store: store, remote: server, options: options).pull(query)
        #expect(server.walk.contains("after -") == migrates)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `progress that can't be read is not used`() async throws {
        for token in [SyncToken(digest: [1, 2, 3], time: "102"), SyncToken(digest: Array(repeating: 1, count: 8))] {
            let device = try await interrupted()
            try await TandemStore(device.store).write { local in
                try local.setSyncToken(token, of: "\u{0}resume 1", in: "Pet")
            }
            try await device.pull(nil)
            #expect(device.server.walk == PagedServer.walk(from: 1))
            try await expectEqual(device)
        }
    }

    // MARK: On the server's side

    @Test func `a server without a clock is pulled from the first item`() async throws {
        let device = try await interrupted(hasClock: false)
        try await device.pull(nil)
        #expect(device.server.walk == PagedServer.walk(from: 1))
        try await expectEqual(device)
    }

    @Test func `a table without updatedAt is pulled from the first item`() async throws {
        let device = try await interrupted()
        let sync = device.context
        var features = TableFeatures()
        features.updatedAt = false
        try sync.table(Pet.self).setFeatures(features)
        try await sync.pull(Pet.self)
        #expect(device.server.walk == PagedServer.walk(from: 1))
        try await expectEqual(device)
        // No progress is stored either.
        device.server.fail(from: 4, lost)
        await #expect(throws: SyncError.self) { try await sync.pull(Pet.self) }
        #expect(try await device.token("\u{0}resume") == nil)
    }

    @Test func `items without updatedAt are pulled from the first one`() async throws {
        let device = try PagedDevice(.ofTwenty())
        device.server.on { state, request throws(RemoteFailure) in
            var page = PagedServer.page(request, state)
            for index in page.items.indices { page.items[index].updatedAt = nil }
            if state.requests.count == 4 { throw .lost(URLError(.networkConnectionLost)) }
            return page
        }
        await #expect(throws: SyncError.self) { try await device.pull(nil) }
        device.server.change { $0.requests = [] }
        device.server.on { state, request throws(RemoteFailure) in
            var page = PagedServer.page(request, state)
            for index in page.items.indices { page.items[index].updatedAt = nil }
            return page
        }
        try await device.pull(nil)
        #expect(device.server.walk == PagedServer.walk(from: 1))
        try await expectEqual(device)
    }

    @Test func `a server that does not count is pulled from the first item`() async throws {
        let device = try await interrupted()
        device.server.on { state, request throws(RemoteFailure) in
            var page = PagedServer.page(request, state)
            page.count = nil
            return page
        }
        try await device.pull(nil)
        #expect(device.server.walk == ["count"] + PagedServer.walk(from: 1))
        try await expectEqual(device)
    }

    @Test func `a server whose clock was set back is pulled from the first item`() async throws {
        let device = try await interrupted()
        device.server.change { state in
            state.now -= 3_600_000
            state.write("1035", "new")
            state.rows["104"] = nil
        }
        try await device.pull(nil)
        #expect(device.server.walk == ["count"] + PagedServer.walk(from: 1))
        try await expectEqual(device)
    }

    /// The pages before it must be fetched from time to time.
    @Test(arguments: [RemoteFailure.later(status: 500, retryAfter: nil), .refused(status: 400, message: "no")])
    func `a page that fails each time does not prevent the pages before it from being fetched`(
        failure: RemoteFailure
    ) async throws {
        let device = try PagedDevice(.ofTwenty())
        device.server.on { state, request throws(RemoteFailure) in
            if request.order == .id(after: "105") { throw failure }
            return nil
        }
        await #expect(throws: SyncError.self) { try await device.pull(nil) }
        device.server.change { $0.write("101", "edited") }
        for _ in 1...2 {
            device.server.change { $0.requests = [] }
            await #expect(throws: SyncError.self) { try await device.pull(nil) }
        }
        #expect(device.server.walk.first == "after -")
        #expect(try device.pets()["101"] == "edited")
    }

    @Test(arguments: [503, 429])
    func `a server that is busy at each attempt does not make a pull begin again`(status: Int) async throws {
        let device = try await interrupted()
        for _ in 1...3 {
            device.server.fail(from: 1, .later(status: status, retryAfter: nil))
            await #expect(throws: SyncError.self) { try await device.pull(nil) }
        }
        device.server.recover()
        try await device.pull(nil)
        #expect(device.server.walk == ["count"] + PagedServer.walk(from: 4) + ["changes"])
        try await expectEqual(device)
    }

    @Test func `a table without an end is not resumed`() async throws {
        let device = try PagedDevice(.ofTwenty())
        var options = device.options
        options.pageLimit = 4
        let sync = SyncContext(store: device.store, remote: device.server, options: options)
        for _ in 1...2 {
            device.server.recover()
            await #expect { try await sync.pull(Pet.self) } throws: { ($0 as? SyncError)?.code == .tooManyPages }
            #expect(device.server.walk == Array(PagedServer.walk(from: 1).prefix(4)))
            #expect(try await device.token("\u{0}resume") == nil)
        }
    }
}
