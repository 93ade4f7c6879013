import LocalStoreSupport
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Every law on every local store there is.
@Suite(.ownThreads) struct LocalStoreConformanceTests {
    @Test(arguments: LocalStoreConformance.laws, StoreKind.allCases)
    func tandemsStoreKeepsTheLaw(law: LocalStoreConformance.Law, kind: StoreKind) async throws {
        // Hundreds of laws at a time hold the few threads there are: twenty writes in a row may take longer than an app
        // would wait.
        var configuration = Store.Configuration()
        configuration.busyTimeout = 300
        try await kind.withStore(Thing.self, Part.self, configuration: configuration) { store in
            try await law.check(on: TandemStore(store))
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test(arguments: LocalStoreConformance.laws)
    func theStoreInMemoryKeepsTheLaw(law: LocalStoreConformance.Law) async throws {
        try await law.check(on: MemoryLocalStore(models: LocalStoreConformance.models))
    }

    @Test func noTwoLawsHaveOneName() {
        #expect(Set(LocalStoreConformance.laws.map(\.name)).count == LocalStoreConformance.laws.count)
    }
}
