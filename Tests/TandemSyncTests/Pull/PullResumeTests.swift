import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A full pull that was interrupted fetches the remaining pages and the changes since. It ends as if it had not been
/// interrupted.
@Suite(.ownThreads) struct PullResumeTests {
    enum Interruption: String, CaseIterable {
        case lost, busy, failing, refused, signedOut, cancelled

        var failure: RemoteFailure {
            switch self {
            case .lost: .lost(URLError(.networkConnectionLost))
            case .busy: .later(status: 503, retryAfter: nil)
            case .failing: .later(status: 500, retryAfter: nil)
            case .refused: .refused(status: 400, message: "no")
            case .signedOut: .unauthenticated(status: 401, underlying: nil)
            case .cancelled: .lost(CancellationError())
            }
        }
    }

    /// Expects that a device has the server's state, and that its pull is complete.
    private func expectEqual(_ device: PagedDevice, _ comment: String = "") async throws {
        #expect(try device.pets() == device.server.live, "\(comment)")
        for queryID in ["\u{0}resume", "\u{0}resume 0"] {
            #expect(try await device.token(queryID) == nil, "\(comment)")
        }
        #expect(try device.store.checkIntegrity() == [])
    }

    @Test(arguments: Interruption.allCases)
    func `a pull that fails at any page resumes at that page`(interruption: Interruption) async throws {
        for page in 1...7 {
            let device = try PagedDevice(.ofTwenty())
            device.server.fail(from: page, interruption.failure)
            await #expect(throws: (any Error).self) { try await device.pull(nil) }
            #expect(try device.pets().count == 3 * (page - 1))
            device.server.recover()
            let result = try await device.pull(nil)
            let rest = PagedServer.walk(from: page)
            #expect(device.server.walk == (page == 1 ? rest : ["count"] + rest + ["changes"]))
            #expect(result.inserted == 20 - 3 * (page - 1) && result.changes == result.inserted)
            try await expectEqual(device, "page \(page)")
            // The next one begins with the first item.
            device.server.recover()
            #expect(try await device.pull(nil).changes == 0)
            #expect(device.server.walk == PagedServer.walk(from: 1))
        }
    }

    @Test func `a pull that fails at each page once ends`() async throws {
        let device = try PagedDevice(.ofTwenty())
        for page in 2...7 {
            // From the second pull on the count is a request of its own.
            device.server.fail(from: page == 2 ? 2 : 3, Interruption.lost.failure)
            await #expect(throws: SyncError.self) { try await device.pull(nil) }
            #expect(try device.pets().count == 3 * (page - 1))
        }
        device.server.recover()
        #expect(try await device.pull(nil).inserted == 2)
        #expect(device.server.walk == ["count"] + PagedServer.walk(from: 7) + ["changes"])
        try await expectEqual(device)
    }

    @Test(arguments: [false, true])
    func `a pull whose process is killed at any write resumes in the next process`(commits: Bool) async throws {
        let models: [any Model.Type] = [Person.self, Card.self, Pet.self]
        // The eighth write removes the progress.
        for write in 1...(commits ? 7 : 8) {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let path = folder.path(of: "store.tandem")
            let server = PagedServer.ofTwenty()
            let options = try PagedDevice(server).options
            let first = try Store(at: path, models: models)
            let dying = FailingStore(first)
            dying.fail(atWrite: write, commits: commits)
            let killed = SyncContext(localStore: dying, remote: server, options: options)
            await #expect(throws: FailingStore.Failure.self) { try await killed.pull(Pet.self) }
            first.close()
            server.recover()

            let store = try Store(at: path, models: models)
            defer { store.close() }
            let result = try await SyncContext(store: store, remote: server, options: options).pull(Pet.self)
            let pages = commits ? write : write - 1
            // A last page needs no progress. After a kill it is fetched again.
            let rest = PagedServer.walk(from: min(pages, 6) + 1)
            #expect(server.walk == (pages == 0 ? rest : ["count"] + rest + ["changes"]), "write \(write)")
            #expect(result.inserted == 20 - min(20, 3 * pages))
            let pets = try await store.objects(Pet.self).all()
            #expect(Set(pets.map(\.name)) == Set(server.live.values) && pets.count == 20)
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test(arguments: 2...6)
    func `rows that the server deleted are removed at the end of a resumed pull`(page: Int) async throws {
        let device = try PagedDevice(.ofTwenty())
        try await device.pull(nil)
        // Sixteen rows are left: six pages.
        device.server.change { state in
            for id in ["101", "107", "113", "119"] { state.rows[id] = nil }
        }
        device.server.fail(from: page, Interruption.lost.failure)
        await #expect(throws: SyncError.self) { try await device.pull(nil) }
        #expect(try device.pets().count == 20)
        device.server.recover()
        #expect(try await device.pull(nil).deleted == 4)
        #expect(!device.server.walk.contains("after -"))
        try await expectEqual(device)
    }

    @Test(arguments: [false, true])
    func `a removal that is interrupted is completed by the next pull`(commits: Bool) async throws {
        let device = try PagedDevice(.ofTwenty())
        try await device.pull(nil)
        device.server.change { state in
            for id in ["101", "119"] { state.rows[id] = nil }
        }
        let dying = FailingStore(device.store)
        // Eighteen rows are six full pages, and an empty one that writes nothing.
        dying.fail(atWrite: 7, commits: commits)
        let killed = SyncContext(localStore: dying, remote: device.server, options: device.options)
        await #expect(throws: FailingStore.Failure.self) { try await killed.pull(Pet.self) }
        device.server.recover()
        #expect(try await device.pull(nil).deleted == (commits ? 0 : 2))
        #expect(device.server.walk == ["count", "after 118", "changes"])
        try await expectEqual(device)
    }

    // MARK: Changes while a pull is interrupted

    /// A change on the server after three of the seven pages were fetched.
    enum Change: String, CaseIterable {
        case edit, insert, softDelete, hardDelete, hardDeleteAndInsert, deleteAndInsertAgain
        case laterEdit, laterInsert, laterDelete

        func apply(to state: inout PagedServer.State) {
            switch self {
            case .edit: state.write("104", "edited")
            case .insert: state.write("1035", "new")
            case .softDelete: state.write("104", "", deleted: true)
            case .hardDelete: state.rows["104"] = nil
            case .hardDeleteAndInsert:
                state.rows["104"] = nil
                state.write("1035", "new")
            case .deleteAndInsertAgain:
                state.rows["104"] = nil
                state.write("104", "again")
            case .laterEdit: state.write("114", "edited")
            case .laterInsert: state.write("120", "new")
            case .laterDelete: state.rows["114"] = nil
            }
            state.now += 5000
        }

        /// Whether only the number of items shows it.
        var isHidden: Bool { self == .hardDelete || self == .hardDeleteAndInsert }
    }

    @Test(arguments: Change.allCases, [false, true])
    func `a change while a pull is interrupted is not missed`(change: Change, isKnown: Bool) async throws {
        let device = try PagedDevice(.ofTwenty())
        if isKnown { try await device.pull(nil) }
        device.server.fail(from: 4, Interruption.lost.failure)
        await #expect(throws: SyncError.self) { try await device.pull(nil) }
        device.server.recover()
        device.server.change { change.apply(to: &$0) }
        try await device.pull(nil)
        // The walk begins again only if necessary.
        #expect(device.server.walk.contains("after -") == change.isHidden, "\(device.server.walk)")
        try await expectEqual(device)
    }

    @Test func `inserts during a resumed pull do not make it begin again`() async throws {
        let device = try PagedDevice(.ofTwenty())
        device.server.fail(from: 4, Interruption.lost.failure)
        await #expect(throws: SyncError.self) { try await device.pull(nil) }
        device.server.recover()
        device.server.on { state, request throws(RemoteFailure) in
            // After the items were counted, before the cursor.
            if request.order == .id(after: "111") { state.write("1005", "new") }
            return nil
        }
        try await device.pull(nil)
        #expect(device.server.walk == ["count"] + PagedServer.walk(from: 4) + ["changes", "count", "changes"])
        try await expectEqual(device)
    }

    @Test func `a tombstone during a resumed pull does not hide an item that was deleted without one`() async throws {
        let device = try PagedDevice(.ofTwenty())
        device.server.fail(from: 4, Interruption.lost.failure)
        await #expect(throws: SyncError.self) { try await device.pull(nil) }
        device.server.recover()
        device.server.change { $0.rows["104"] = nil }
        device.server.on { state, request throws(RemoteFailure) in
            // Both were fetched. Now as many IDs are left as were counted.
            if request.order == .id(after: "111"), state.rows["103"]?.isDeleted == false {
                state.write("103", "", deleted: true)
            }
            return nil
        }
        try await device.pull(nil)
        #expect(device.server.walk.contains("after -"))
        try await expectEqual(device)
    }

    // MARK: Bookkeeping

    @Test(arguments: [300, 2000])
    func `a page adds one small row of progress in a table of any size`(count: Int) async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<count { state.write("\(10_000 + index)", "x") }
            state.now += 60_000
        }
        let device = try PagedDevice(server, pageSize: 100)
        try await device.pull(nil)
        let before = try device.store.totalChanges()
        #expect(try await device.pull(nil).changes == 0)
        // A row for the pull and one for each full page, which are removed at the end.
        #expect(try device.store.totalChanges() - before == Int64(2 * (count / 100 + 1)))
        server.fail(from: 3, Interruption.lost.failure)
        await #expect(throws: SyncError.self) { try await device.pull(nil) }
        for row in 0..<2 { #expect(try await device.token("\u{0}resume \(row)")?.digest.count == 800) }
        #expect(try await device.token("\u{0}resume 2") == nil)
    }

    @Test func `a table of one page is not written to`() async throws {
        let device = try PagedDevice(.ofTwenty(), pageSize: 100)
        try await device.pull(nil)
        // A server that does not mark the last page.
        for mayHaveMore in [false, true] {
            device.server.on { state, request throws(RemoteFailure) in
                var page = PagedServer.page(request, state)
                page.hasMore = mayHaveMore && !page.items.isEmpty
                return page
            }
            let before = try device.store.totalChanges()
            try await device.pull(nil)
            #expect(try device.store.totalChanges() == before)
        }
    }

    @Test func `a server with pages of its own size is resumed with all fetched rows`() async throws {
        let device = try PagedDevice(.ofTwenty(), pageSize: 10)
        let isDown = Synchronized(true)
        device.server.on { state, request throws(RemoteFailure) in
            if isDown.value, state.requests.count >= 4 { throw Interruption.lost.failure }
            var small = request
            small.top = min(request.top, 3)
            var page = PagedServer.page(small, state)
            page.hasMore = !page.items.isEmpty
            return page
        }
        await #expect(throws: SyncError.self) { try await device.pull(nil) }
        isDown.change { $0 = false }
        device.server.change { $0.requests = [] }
        try await device.pull(nil)
        #expect(device.server.walk == ["count"] + PagedServer.walk(from: 4) + ["after 119", "changes"])
        try await expectEqual(device)
    }
}
