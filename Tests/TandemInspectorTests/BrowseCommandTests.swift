import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemInspector

/// The arguments of `browse`. `TandemBrowserTests` tests the pages.
@Suite(.ownThreads) struct BrowseCommandTests {
    /// The requests that a command makes.
    private final class Requests: Sendable {
        struct Seen: Sendable {
            let host: String
            let password: String?
            let isWritable: Bool
            let count: Int
        }

        let seen = Mutex<[Seen]>([])

        func record(_ request: BrowseRequest) throws {
            let count = try request.store.objects(named: "Card").count()
            seen.withLock {
                $0.append(
                    Seen(
                        host: request.host, password: request.password, isWritable: request.isWritable, count: count))
            }
        }
    }

    @Test(arguments: ReadingCommandTests.kinds)
    func `the pages get the open store, which is read-only without --write`(kind: StoreKind) throws {
        let fixture = try InspectorFixture(kind)
        try fixture.fill()
        let requests = Requests()
        for arguments in [[], ["--write"]] {
            let console = TestConsole(browse: { try requests.record($0) })
            #expect(try fixture.run("browse", arguments, on: console).status == .success)
        }
        let seen = requests.seen.withLock { $0 }
        #expect(seen.map(\.isWritable) == [false, true] && seen.map(\.count) == [3, 3])
        #expect(seen.allSatisfy { $0.host == "127.0.0.1" && $0.password == nil })
    }

    @Test(arguments: ["0.0.0.0", "192.168.1.7", "::"]) func `other addresses need a password`(host: String) throws {
        let fixture = try InspectorFixture()
        let requests = Requests()
        let console = TestConsole(browse: { try requests.record($0) })
        #expect(try fixture.run("browse", ["--host", host], on: console).status == .usage)
        #expect(console.errors.contains("TANDEM_BROWSE_PASSWORD"))
        let given = TestConsole(
            environment: ["TANDEM_BROWSE_PASSWORD": "correct horse"], browse: { try requests.record($0) })
        #expect(try fixture.run("browse", ["--host", host], on: given).status == .success)
        #expect(requests.seen.withLock { $0.map(\.password) } == ["correct horse"])
    }

    @Test func `a program without a server says so`() throws {
        let fixture = try InspectorFixture()
        let result = try fixture.run("browse")
        #expect(result.status == .failure && result.console.errors.contains("contains no server"))
    }
}
