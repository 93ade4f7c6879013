import Foundation
import HTTPTypes
import TandemKinto

/// A Kinto server in processes of its own, behind a proxy that causes faults: `Scripts/kinto.sh --faults` starts them.
struct KintoDemoServer: DemoServer {
    /// The environment variables of the demo server.
    ///
    /// They contain the bucket's address, the accounts of the phone and the tablet, and the proxy's control address.
    static let variables = (
        server: "CARDS_SERVER", phone: LogIn.variable, tablet: "CARDS_OTHER_TOKEN", faults: "CARDS_FAULTS"
    )

    let url: String
    /// The tokens of the phone and the tablet.
    let tokens: (phone: String, tablet: String)
    private let faults: String
    private let account: KintoAccount
    private let transport: AsyncHTTPTransport

    /// Creates access to the server that the environment names. Sends no request.
    init(environment: [String: String]) throws {
        func value(_ variable: String) throws -> String {
            guard let value = environment[variable], !value.isEmpty else {
                throw Failure(
                    .usage, message: "\(variable) is not set.",
                    advice: "Use `Scripts/kinto.sh --faults --run cards demo --kinto`, which sets it.")
            }
            return value
        }
        url = try value(Self.variables.server)
        guard case .kinto = try CardServer(url) else {
            throw Failure(.usage, message: "“\(url)” is not a bucket of a Kinto server.")
        }
        tokens = try (value(Self.variables.phone), value(Self.variables.tablet))
        faults = try value(Self.variables.faults)
        account = try CardServer.account(token: tokens.phone)
        transport = try AsyncHTTPTransport()
    }

    var title: String { "Kinto on PostgreSQL, with a proxy that causes faults" }

    func close() async throws { try await cause("offline") }
    func reopen() async throws { try await cause("online") }
    func loseNextResponse() async throws { try await cause("lose") }

    /// Collections have the names of the models.
    func count(of table: String) async throws -> Int { try await records(of: table.capitalized).count }

    func photographs() async throws -> [String] {
        try await records(of: "files").compactMap(\.attachment?.hash)
    }

    func cards() async throws -> [SharedCard] {
        func names(of table: String) async throws -> [String: String] {
            try await Dictionary(records(of: table).map { ($0.id, $0.name ?? "") }, uniquingKeysWith: { $1 })
        }
        let (people, brands) = try await (names(of: "Person"), names(of: "Brand"))
        return try await records(of: "Card").map { card in
            SharedCard(
                id: card.id, shop: card.shop ?? "", number: card.barcode ?? "", points: card.points ?? "",
                owner: card.owner.flatMap { people[$0] }, brand: card.brand.flatMap { brands[$0] })
        }
        .sorted { $0.number < $1.number }
    }
}

// MARK: - Requests

extension KintoDemoServer {
    /// The records of a collection.
    private struct Records: Decodable {
        let data: [Record]
    }

    /// A record, with the members that the story compares.
    private struct Record: Decodable {
        let id: String
        let name, shop, barcode, points, owner, brand: String?
        let attachment: Attachment?
    }

    /// The description of a file by the plugin `kinto-attachment`.
    private struct Attachment: Decodable {
        let hash: String
    }

    /// Requests all records of a collection. They fit on one page.
    private func records(of collection: String) async throws -> [Record] {
        let path = "\(url)/collections/\(collection)/records"
        let body = try await send(.get, to: path, fields: account.fields)
        return try JSONDecoder().decode(Records.self, from: Data(body)).data
    }

    /// Tells the proxy to cause or end a fault.
    private func cause(_ fault: String) async throws { _ = try await send(.post, to: "\(faults)/\(fault)") }

    private func send(_ method: HTTPRequest.Method, to url: String, fields: HTTPFields = [:]) async throws -> [UInt8] {
        guard let address = ServerAddress(url) else { throw Failure(.usage, message: "“\(url)” is not a valid URL.") }
        let request = HTTPRequest(
            method: method, scheme: address.scheme, authority: address.authority, path: address.path,
            headerFields: fields)
        let (response, body) = try await transport.send(request, body: [], limit: 10 << 20)
        guard response.status == .ok else {
            throw Failure(.software, message: "\(method) \(url): the server's response is \(response.status.code).")
        }
        return body
    }
}
