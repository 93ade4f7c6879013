import Foundation
import HTTPTypes
import Tandem
import TandemDatasync
import TandemServer
import TandemServerCore
import TandemSync

/// A dialect with a name that tests can print.
enum Wire: String, CaseIterable {
    case azure, datasync

    var dialect: Dialect { self == .azure ? .azureMobileApps : .datasync }
    var served: ServerDialect { self == .azure ? .azureMobileApps : .datasync }

    func authentication(_ token: String) -> HTTPFields { self == .azure ? .zumo(token) : .bearer(token) }

    /// Runs a body with an in-memory server of this dialect on this machine.
    func run<T>(
        _ configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: (TandemServer) async throws -> T
    ) async throws -> T {
        var configuration = ServerConfiguration(dialect: served)
        configure(&configuration)
        return try await running(TandemServer.start(.inMemory(configuration: configuration)), body)
    }
}

/// Runs a body, and then stops the server.
func running<T>(_ server: TandemServer, _ body: (TandemServer) async throws -> T) async throws -> T {
    do {
        let result = try await body(server)
        try await server.stop()
        return result
    } catch {
        try await server.stop()
        throw error
    }
}

extension OutgoingItem {
    /// Creates a card with a shop, for an insert or, with a version, for an update.
    static func card(_ id: ServerID?, _ shop: String, _ version: String? = nil) -> OutgoingItem {
        OutgoingItem(table: "Card", id: id, version: version, members: [("shop", .text(shop))], changed: ["shop"])
    }
}

/// Returns the failure of a call to a remote.
func failure<T>(of call: () async throws(RemoteFailure) -> T) async -> RemoteFailure? {
    do {
        _ = try await call()
        return nil
    } catch {
        return error
    }
}

extension RemoteFailure {
    /// The failure as one line.
    var line: String {
        switch self {
        case .notSent(let error): "not sent: \((error as? NetworkError).map { "\($0.code)" } ?? "\(error)")"
        case .lost(let error): "lost: \((error as? NetworkError).map { "\($0.code)" } ?? "\(error)")"
        case .unauthenticated(let status, _): "unauthenticated \(status)"
        case .conflict(let status, let item, _): "conflict \(status) with \(item?.version ?? "nothing")"
        case .gone: "gone"
        case .notFound: "not found"
        case .refused(let status, _): "refused \(status)"
        case .later(let status, let delay): "later \(status)\(delay.map { " in \($0)" } ?? "")"
        case .invalidResponse(let response): "bad \(response.code)"
        case .notEncodable(let problem): "notEncodable \(problem.code)"
        case .outdatedPosition(let status, _): "outdated position \(status)"
        case .file(let problem): "file: \(problem)"
        }
    }
}
