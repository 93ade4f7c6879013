import LocalStoreSupport
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Every requirement on every local store.
@Suite(.ownThreads) struct LocalStoreConformanceTests {
    @Test(arguments: LocalStoreConformance.requirements, StoreKind.allCases)
    func `Tandem's store meets the requirement`(
        requirement: LocalStoreConformance.Requirement, kind: StoreKind
    ) async throws {
        // Hundreds of concurrent tests occupy the few threads. Twenty writes in a row may take longer than an app would
        // wait.
        var configuration = Store.Configuration()
        configuration.busyTimeout = 300
        try await kind.withStore(ConformanceModel.self, Part.self, configuration: configuration) { store in
            try await requirement.check(on: TandemStore(store))
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test(arguments: LocalStoreConformance.requirements)
    func `the in-memory store meets the requirement`(requirement: LocalStoreConformance.Requirement) async throws {
        try await requirement.check(on: MemoryLocalStore(models: LocalStoreConformance.models))
    }

    @Test func `no two requirements have one name`() {
        #expect(Set(LocalStoreConformance.requirements.map(\.name)).count == LocalStoreConformance.requirements.count)
    }
}
