import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// The requirements of `Remote`, tested on all remotes without a socket. Each injected mistake violates one of them.
@Suite(.ownThreads) struct RemoteConformanceTests {
    enum Kind: CaseIterable {
        case scripted, scriptedBatches, scriptedServerIDs, scriptedWithoutTombstones, scriptedNestedJSON, allFeatures,
            restoring
        case azureMobileApps, datasync, article

        func make() throws -> TestedRemote {
            var features = RemoteFeatures()
            let remote: any Remote
            switch self {
            case .scripted: remote = ScriptedRemote()
            case .scriptedBatches:
                remote = ScriptedRemote(batchLimit: 4)
                features.batches = true
            case .scriptedServerIDs:
                remote = ScriptedRemote(ids: .server)
                features.choosesIDs = false
            case .scriptedWithoutTombstones:
                remote = ScriptedRemote(softDelete: false, versions: false)
                (features.table.softDelete, features.table.versions) = (false, false)
            case .scriptedNestedJSON:
                remote = ScriptedRemote(format: WireFormat(nestedJSON: true), undeletesWithValues: false)
            case .allFeatures: return RemoteConformanceTests.withMistake(nil)
            case .restoring:
                var tested = RemoteConformanceTests.withMistake(nil)
                tested.remote = MistakenRemote(insertRestoresDeleted: true)
                return tested
            case .azureMobileApps:
                remote = try InProcessLine.remote(.azureMobileApps)
                // The server echoes the request, stores numbers as doubles, and accepts bodies up to 100 kB.
                (features.takenIDsHaveItems, features.longestText) = (false, 50_000)
                (features.exactIntegers, features.negativeZero) = (false, false)
            case .datasync: remote = try InProcessLine.remote(.datasync)
            case .article:
                remote = ShelfRemote()
                features.filters = false
            }
            return TestedRemote(remote, table: "conformance", features: features)
        }

        /// The names of the requirements that do not apply.
        var notApplicable: Set<String> {
            let optional: Set = [
                "a batch has an outcome for each write, in order", "a refused write of a batch leaves the others",
                "a batch of the greatest size is stored completely",
                "the change tag of a table differs after each write",
                "the change tag of a table is equal without a write", "all pages of a table have the same generation",
            ]
            let nested: Set = ["arrays and objects keep their structure"]
            switch self {
            case .allFeatures, .restoring: return []
            case .scriptedNestedJSON: return optional
            case .scripted, .datasync: return optional.union(nested)
            case .scriptedBatches: return optional.filter { !$0.contains("batch") }.union(nested)
            case .scriptedServerIDs:
                return optional.union(nested).union([
                    "an insert creates an item with the client's ID and its values",
                    "an insert with a taken ID is a conflict with the server's item",
                    "an insert with a deleted item's ID restores the item or is refused, as declared",
                    "exactly one of several concurrent inserts with the same ID succeeds",
                ])
            case .scriptedWithoutTombstones:
                return optional.union(nested).union([
                    "an insert with a deleted item's ID restores the item or is refused, as declared",
                    "each write gives the item a version that it did not have before",
                    "an update with an older version is a conflict with the server's item",
                    "a delete with an older version is a conflict with the server's item",
                    "an undelete restores the item, with the values unless it reports otherwise",
                    "an undelete with an older version is a conflict",
                    "a tombstone is in pages from the latest time before the delete",
                    "pages have deleted items only if requested",
                    "exactly one of several concurrent updates of a version succeeds",
                ])
            case .azureMobileApps:
                return optional.union(nested).union(["integers beyond 2^53 keep all digits", "-0.0 keeps its sign"])
            case .article:
                return optional.union(nested).union([
                    "filters can test texts and integers for equality", "a filter applies to pages by updatedAt",
                ])
            }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: Kind.allCases, RemoteConformance.requirements)
    func `a requirement is met or does not apply`(
        kind: Kind, requirement: RemoteConformance.Requirement
    ) async throws {
        let outcome = try await requirement.check(on: try kind.make())
        #expect((outcome == .met) == !kind.notApplicable.contains(requirement.name), "\(outcome)")
    }

    @Test func `names of requirements are unique and those of exceptions exist`() {
        let names = RemoteConformance.requirements.map(\.name)
        #expect(Set(names).count == names.count)
        for kind in Kind.allCases { #expect(kind.notApplicable.isSubset(of: names), "\(kind)") }
    }

    @Test(.timeLimit(.minutes(10)), arguments: MistakenRemote.Mistake.allCases)
    func `an injected mistake violates its requirement`(mistake: MistakenRemote.Mistake) async throws {
        let requirement = try #require(RemoteConformance.requirements.first { $0.name == mistake.violated })
        var tested = Self.withMistake(mistake)
        let remote = try #require(tested.remote as? MistakenRemote)
        if mistake == .ignoresCancellation {
            // The requirement is abandoned as soon as a call hangs.
            tested.patience = {
                while !remote.isHanging { try await Task.sleep(for: .milliseconds(2)) }
            }
        }
        defer { remote.endHangingCalls() }
        let violation = await #expect(throws: ConformanceViolation.self) { try await requirement.check(on: tested) }
        #expect(violation?.requirement == mistake.violated)
    }

    @Test func `each requirement has an injected mistake`() {
        let names = Set(RemoteConformance.requirements.map(\.name))
        #expect(names.symmetricDifference(MistakenRemote.Mistake.allCases.map(\.violated)) == [])
    }

    @Test func `a report counts requirements and lists exceptions`() async throws {
        let (article, all) = (Kind.article, RemoteConformance.requirements.count)
        let report = await RemoteConformance.report(on: try article.make())
        let exceptions = article.notApplicable.count
        #expect(report.violations.isEmpty)
        #expect(Set(report.notApplicable.map(\.requirement)) == article.notApplicable)
        let lines = report.description.split(separator: "\n")
        #expect(
            lines.first
                == "The remote meets \(all - exceptions) requirements, \(exceptions) do not apply, and 0 are violated.")
        #expect(lines.count == 1 + exceptions)
        let broken = await RemoteConformance.report(on: Self.withMistake(.ignoresSkip))
        #expect(broken.violations.map(\.requirement) == ["a page skips the requested number of items"])
        #expect(broken.description.contains("violated: A requirement is violated (a page skips"))
    }

    @Test func `a cancelled check ends with a cancellation`() async throws {
        let requirement = try #require(RemoteConformance.requirements.first)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await requirement.check(on: try Kind.scripted.make())
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    static func withMistake(_ mistake: MistakenRemote.Mistake?) -> TestedRemote {
        var features = RemoteFeatures()
        (features.batches, features.changeTags, features.generations) = (true, true, true)
        return TestedRemote(MistakenRemote(mistake), table: "conformance", features: features)
    }
}

/// A transport to a server in this process. The server's clock advances by a millisecond whenever it is read.
private struct InProcessLine: HTTPTransport {
    let server: ServerCore

    struct NoResponse: Error {}

    static func remote(_ dialect: Dialect) throws -> DatasyncRemote {
        let clock = ManualClock(Date(timeIntervalSince1970: 1_795_000_000))
        var configuration = ServerConfiguration(dialect: dialect == .datasync ? .datasync : .azureMobileApps)
        configuration.clock = ServerClock(
            now: {
                clock.advance(by: 0.001)
                return clock.now()
            }, sleep: { _ in })
        let line = InProcessLine(server: try ServerCore.inMemory(configuration: configuration))
        return DatasyncRemote(ServerAddress("https://shop.example")!, dialect: dialect, over: line)
    }

    func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        // A requirement runs in a task of its own, and the server's store blocks its thread.
        let outcome = await onOwnThreads { await server.exchange(request, body: body) }
        switch outcome {
        case .response(let response, let body): return (response, body)
        case .noResponse: throw .lost(NoResponse())
        }
    }
}
