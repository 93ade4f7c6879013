import Foundation
import HTTPTypes
import Synchronization
import Tandem
import TandemServer

/// The server of `cards serve` in this process, with planned faults.
final class InProcessServer: DemoServer {
    private let core: ServerCore
    private let trouble: Trouble
    private let running: Mutex<TandemServer>

    /// The planned faults of the next requests.
    private final class Trouble: Sendable {
        private let losesResponse = Mutex(false)

        func loseResponse() { losesResponse.withLock { $0 = true } }

        /// Returns the planned fault of a request, which applies to the next new object.
        func faults(of request: HTTPRequest) -> [ServerFault] {
            guard request.method == .post else { return [] }
            return losesResponse.withLock { loses in
                defer { loses = false }
                return loses ? [.lostResponse] : []
            }
        }
    }

    static func open(users: [String: String]) async throws -> InProcessServer {
        let trouble = Trouble()
        let core = try FamilyServer.core(
            users: users, faults: ServerFaults { request, _ in trouble.faults(of: request) })
        return InProcessServer(core, trouble: trouble, server: try await start(core))
    }

    /// Starts the server on a port outside the system's automatic range, so that it is still free after a restart.
    private static func start(_ core: ServerCore) async throws -> TandemServer {
        for _ in 0..<20 {
            if let server = try? await FamilyServer.start(core, port: Int.random(in: 20_000..<32_000)) { return server }
        }
        return try await FamilyServer.start(core, port: 0)
    }

    private init(_ core: ServerCore, trouble: Trouble, server: TandemServer) {
        self.core = core
        self.trouble = trouble
        running = Mutex(server)
    }

    private var server: TandemServer { running.withLock { $0 } }
    var title: String { "The server of `cards serve`, in memory on this machine" }
    var url: String { server.url.absoluteString }

    func close() async throws { try await server.stop() }

    /// Restarts the server at the same port, with its data.
    func reopen() async throws {
        let again = try await FamilyServer.start(core, port: server.port)
        running.withLock { $0 = again }
    }

    func loseNextResponse() { trouble.loseResponse() }

    /// Returns the rows of a table that are not deleted.
    func rows(of table: String) throws -> [ServerRow] { try core.rows(in: table).filter { !$0.deleted } }

    func count(of table: String) throws -> Int { try rows(of: table).count }

    func photographs() throws -> [String] { try core.configuration.files?.storage.files().map(\.sha256) ?? [] }

    func cards() throws -> [SharedCard] {
        func text(_ value: JSONValue?) -> String? { if case .text(let text)? = value { text } else { nil } }
        func names(of table: String) throws -> [String: String] {
            try Dictionary(rows(of: table).map { ($0.id, text($0.members["name"]) ?? "") }, uniquingKeysWith: { $1 })
        }
        let (people, brands) = try (names(of: "person"), names(of: "brand"))
        return try rows(of: "card").map { row in
            SharedCard(
                id: row.id, shop: text(row.members["shop"]) ?? "", number: text(row.members["barcode"]) ?? "",
                points: text(row.members["points"]) ?? "", owner: text(row.members["owner"]).flatMap { people[$0] },
                brand: text(row.members["brand"]).flatMap { brands[$0] })
        }
        .sorted { $0.number < $1.number }
    }
}
