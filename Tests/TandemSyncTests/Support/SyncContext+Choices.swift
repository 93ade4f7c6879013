import Tandem

@testable import TandemSync

/// Decisions on an operation's current version, for tests without concurrent changes.
extension SyncContext {
    private func version(of id: PendingOperation.ID) async throws -> PendingOperation.Version {
        let operation = try await store.read { try $0.operation(withID: id) }
        return operation?.version ?? PendingOperation.Version(id: id, changedAt: .distantPast)
    }

    func retry(_ id: PendingOperation.ID) async throws { try await retry(version(of: id)) }

    func keepMine(_ id: PendingOperation.ID) async throws { try await keepMine(version(of: id)) }

    @discardableResult
    func takeServers(_ id: PendingOperation.ID) async throws -> [String: StorageValue] {
        try await takeServers(version(of: id))
    }

    @discardableResult
    func discard(_ id: PendingOperation.ID) async throws -> [String: StorageValue] {
        try await discard(version(of: id))
    }
}
