import HTTPTypes
import KintoWire
import RemoteHTTP
import Tandem
import TandemSync
import Testing

extension KintoRemote {
    /// Creates a remote for the bucket `b` of a fake server.
    convenience init(
        _ kinto: FakeKinto, creates: Bool = false, limits: ResponseLimits = ResponseLimits(),
        authentication: Authentication? = nil, onAlert: (@Sendable (KintoAlert) -> Void)? = nil
    ) {
        self.init(
            ServerAddress("https://shop.example")!, bucket: "b", creates: creates, over: kinto, limits: limits,
            authentication: authentication, onAlert: onAlert)
    }
}

extension OutgoingItem {
    /// Creates a card, all of whose members are changed.
    static func card(
        _ id: ServerID?, version: String? = nil, _ members: [RemoteItem.Member] = [("shop", .text("Лента"))],
        unknown: [RemoteItem.Member] = []
    ) -> OutgoingItem {
        OutgoingItem(
            table: "Card", id: id, version: version, members: members, changed: Set(members.map(\.key)),
            unknown: unknown)
    }
}

extension RemoteFailure {
    /// The failure in one line, for a table of failures.
    var line: String {
        switch self {
        case .notSent(let error): "notSent \(type(of: error))"
        case .lost(let error): "lost \(type(of: error))"
        case .unauthenticated(let status, _): "unauthenticated \(status)"
        case .conflict(let status, let item, _): "conflict \(status) with \(item?.id.rawValue ?? "nothing")"
        case .gone: "gone"
        case .notFound: "notFound"
        case .refused(let status, let message): "refused \(status) \(message)"
        case .later(let status, let delay): "later \(status) \(delay.map { "\($0)" } ?? "-")"
        case .invalidResponse(let response): "invalidResponse \(response.code)"
        case .notEncodable(let error): "notEncodable \(error.code)"
        case .outdatedPosition(let status, _): "outdatedPosition \(status)"
        case .file: "file"
        }
    }
}

/// Returns the failure of a body in one line, or `success`.
func line<T>(_ body: () async throws(RemoteFailure) -> T) async -> String {
    do throws(RemoteFailure) {
        _ = try await body()
        return "success"
    } catch {
        return error.line
    }
}

extension Result<RemoteResponse, RemoteFailure> {
    /// The outcome in one line.
    var line: String {
        switch self {
        case .success(let response): "stored \(response.item?.id.rawValue ?? "-")"
        case .failure(let failure): failure.line
        }
    }
}

extension [RemoteItem] {
    /// The IDs of the items, with a minus sign for tombstones.
    var names: [String] { map { ($0.isDeleted ? "-" : "") + $0.id.rawValue } }
}

/// Returns the time of a record from its milliseconds.
func timestamp(_ milliseconds: Int64) throws -> WireTimestamp {
    try #require(
        WireTimestamp(
            WireTime.text(
                seconds: milliseconds / 1000, nanoseconds: milliseconds % 1000 * 1_000_000, fractionDigits: 3)))
}
