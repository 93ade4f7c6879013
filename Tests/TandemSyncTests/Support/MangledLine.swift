import DatasyncWire
import Foundation
import HTTPTypes
import Synchronization
import Tandem
import TandemSync
import TandemTesting

/// A transport to a world's server that replaces successful responses. The server has executed the request.
final class MangledLine: HTTPTransport {
    private struct Mangling {
        let matches: @Sendable (HTTPRequest) -> Bool
        let nonsense: Nonsense
    }

    private let world: SyncWorld
    private let manglings = Mutex<[Mangling]>([])

    init(_ world: SyncWorld) { self.world = world }

    /// Replaces the response to the next successful request that matches.
    func next(_ nonsense: Nonsense, on matches: @escaping @Sendable (HTTPRequest) -> Bool) {
        manglings.withLock { $0.append(Mangling(matches: matches, nonsense: nonsense)) }
    }

    /// Replaces the response to the next change of any kind.
    func nextChange(_ nonsense: Nonsense) { next(nonsense) { $0.method != .get } }

    /// Whether no replacement is left.
    var isDone: Bool { manglings.withLock { $0.isEmpty } }

    func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        let (response, content) = try await world.transport.send(request, body: body, limit: limit)
        guard response.status.kind == .successful else { return (response, content) }
        let mangling = manglings.withLock { manglings in
            manglings.firstIndex { $0.matches(request) }.map { manglings.remove(at: $0) }
        }
        return mangling?.nonsense.mangled(response, content) ?? (response, content)
    }

    func context(_ store: Store) -> SyncContext {
        var options = SyncContext.Options()
        options.clock = JumpingClock(world.clock)
        options.random = { 0 }
        options.inFlight = 1
        let remote = DatasyncRemote(ServerAddress("https://shop.example")!, dialect: world.dialect, over: self)
        return SyncContext(store: store, remote: remote, options: options)
    }
}

/// The invalid responses of a server, or of its replacement, with a status of success.
enum Nonsense: CaseIterable, Sendable {
    case html, halfABody, notJSON, list, number, missingID, nullID, wrongIDType, oddID, doubledMember, wrongVersion
    case wrongTime, valueOfAnotherType, nullValue
    /// Only for a change of a single item: an insert or a page may contain any item.
    case anotherItem

    /// The responses that are invalid for every request.
    static let allCases: [Nonsense] = [
        .html, .halfABody, .notJSON, .list, .number, .missingID, .nullID, .wrongIDType, .oddID, .doubledMember,
        .wrongVersion, .wrongTime, .valueOfAnotherType, .nullValue,
    ]

    /// Whether the response is readable, except for a value in it.
    var isAboutAValue: Bool { self == .valueOfAnotherType || self == .nullValue }

    /// The property with the invalid value.
    var property: String { self == .nullValue ? "shop" : "points" }

    func mangled(_ response: HTTPResponse, _ body: [UInt8]) -> (HTTPResponse, [UInt8]) {
        var response = response
        response.status = .ok
        response.headerFields[.contentType] = self == .html ? "text/html; charset=utf-8" : "application/json"
        return (response, Array(text(String(decoding: body, as: UTF8.self)).utf8))
    }

    private func text(_ content: String) -> String {
        func item(_ members: String) -> String { #"{"shop":"x","barcode":"y","points":3,\#(members)}"# }
        switch self {
        case .html: return "<!DOCTYPE html><title>Sign in</title>"
        case .halfABody: return content.isEmpty ? #"{"id":"# : String(content.prefix(content.count / 2))
        case .notJSON: return "{'id':'x'}"
        case .list: return "[7]"
        case .number: return "7"
        case .missingID: return #"{"shop":"x"}"#
        case .nullID: return item(#""id":null"#)
        case .wrongIDType: return item(#""id":{"$oid":"x"}"#)
        case .oddID: return item(#""id":"a\u0000b""#)
        case .doubledMember: return item(#""id":"x","id":"x""#)
        case .wrongVersion: return item(#""id":"x","version":"a\"b""#)
        case .wrongTime: return item(#""id":"x","updatedAt":"yesterday""#)
        case .anotherItem: return item(#""id":"other","version":"MQ==""#)
        case .valueOfAnotherType: return replacing(#""many""#, in: content)
        // A property without a default.
        case .nullValue: return content.replacing(#/"shop":"[^"]*"/#, with: #""shop":null"#)
        }
    }

    private func replacing(_ value: String, in content: String) -> String {
        content.replacing(#/"points":[0-9]+/#, with: "\"points\":" + value)
    }
}
