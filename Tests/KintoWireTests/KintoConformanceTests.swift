import KintoWire
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// The requirements for remotes. `make interop` checks them on a real server.
@Suite(.ownThreads) struct KintoConformanceTests {
    @Test(.timeLimit(.minutes(10)), arguments: RemoteConformance.requirements)
    func `a requirement is met`(requirement: RemoteConformance.Requirement) async throws {
        var features = RemoteFeatures()
        features.batches = true
        features.changeTags = true
        features.generations = true
        // Kinto counts no tombstones.
        features.counts = false
        let remote = KintoRemote(FakeKinto("conformance"))
        _ = try await requirement.check(on: TestedRemote(remote, table: "conformance", features: features))
    }
}
