import LocalStoreSupport
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Every requirement on every local store.
@Suite(.ownThreads) struct LocalStoreConformanceTests {
    @Test(arguments: LocalStoreConformance.laws, StoreKind.allCases)
    func `Tandem's store meets the requirement`(law: LocalStoreConformance.Law, kind: StoreKind) async throws {
        // Hundreds of concurrent tests occupy the few threads. Twenty writes in a row may take longer than an app would
        // wait.
        var configuration = Store.Configuration()
        configuration.busyTimeout = 300
        try await kind.withStore(Thing.self, Part.self, configuration: configuration) { store in
            try await law.check(on: TandemStore(store))
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test(arguments: LocalStoreConformance.laws)
    func `the in-memory store meets the requirement`(law: LocalStoreConformance.Law) async throws {
        try await law.check(on: MemoryLocalStore(models: LocalStoreConformance.models))
    }

    @Test func `no two requirements have one name`() {
        #expect(Set(LocalStoreConformance.laws.map(\.name)).count == LocalStoreConformance.laws.count)
    }
}
