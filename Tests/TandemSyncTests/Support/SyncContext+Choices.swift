import Tandem

@testable import TandemSync

/// Decisions on an operation's current version, for tests without concurrent changes.
extension SyncContext {
    private func version(of id: Tandem.Operation.ID) async throws -> Tandem.Operation.Version {
        let operation = try await store.read { try $0.operation(withID: id) }
        return operation?.version ?? Tandem.Operation.Version(id: id, changedAt: .distantPast)
    }

    func retry(_ id: Tandem.Operation.ID) async throws { try await retry(version(of: id)) }

    func keepMine(_ id: Tandem.Operation.ID) async throws { try await keepMine(version(of: id)) }

    @discardableResult
    func takeServers(_ id: Tandem.Operation.ID) async throws -> [String: StorageValue] {
        try await takeServers(version(of: id))
    }

    @discardableResult
    func discard(_ id: Tandem.Operation.ID) async throws -> [String: StorageValue] {
        try await discard(version(of: id))
    }
}
