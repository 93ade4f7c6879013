import Foundation
import Tandem
import TandemSync

/// A request to a ``ScriptedRemote``.
public struct RecordedRequest: Sendable, CustomStringConvertible {
    /// The kind of a request.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The methods of `Remote`.
        case insert, update, undelete, delete, find, page, changeTag
    }

    /// The kind of the request.
    public let kind: Kind
    /// The requested table.
    public let table: RemoteTableName
    /// The item's ID, if the request has one, or the value that a look-up by a property looks for.
    public let id: String?
    /// The version in the precondition, if any.
    public let version: String?
    /// The members in the request. For an update, the changed ones.
    public let members: [RemoteItem.Member]
    /// The number of the batch that the request was part of, if any.
    public internal(set) var batch: Int?

    /// A one-line description, for comparisons: `update Card 018f…`.
    public var description: String { "\(kind.rawValue) \(table)" + (id.map { " \($0)" } ?? "") }
}

/// A planned fault of a ``ScriptedRemote``.
public enum RemoteFault: Sendable {
    /// The request never arrives.
    case loseRequest
    /// The request is carried out, but its response is lost.
    case loseResponse
    /// The request arrives twice. The client gets the second response.
    case deliverTwice
    /// The response is lost, and the request arrives late, after this number of other requests.
    case deliverLate(after: Int)
    /// The request is not carried out, and fails with this failure.
    case fail(RemoteFailure)
    /// The request is carried out, and fails with this failure all the same.
    case failAfterwards(RemoteFailure)
    /// The request is carried out, but the response has no item.
    case respondWithoutBody
    /// Another device changes the item just before the request is processed.
    case conflict(@Sendable (inout RemoteItem) -> Void)
    /// A closure runs while the request is in flight.
    case meanwhile(@Sendable () async -> Void)
    /// The response does not arrive until the task is cancelled. The request is not carried out.
    case hang
}

/// A predicate that selects the requests for a fault.
public struct RequestMatch: Sendable {
    let matches: @Sendable (RecordedRequest) -> Bool

    /// Selects requests by a closure.
    public init(_ matches: @escaping @Sendable (RecordedRequest) -> Bool) {
        self.matches = matches
    }

    private init(_ kind: RecordedRequest.Kind) {
        self.init { $0.kind == kind }
    }

    /// Selects all requests.
    public static let any = RequestMatch { _ in true }
    /// Selects inserts.
    public static let insert = RequestMatch(.insert)
    /// Selects updates.
    public static let update = RequestMatch(.update)
    /// Selects undeletes.
    public static let undelete = RequestMatch(.undelete)
    /// Selects deletes.
    public static let delete = RequestMatch(.delete)
    /// Selects look-ups.
    public static let find = RequestMatch(.find)
    /// Selects requests for pages.
    public static let page = RequestMatch(.page)

    /// Selects writes in batches.
    public static let batch = RequestMatch { $0.batch != nil }
    /// Selects requests for change tags.
    public static let changeTag = RequestMatch(.changeTag)

    /// Selects requests for one item.
    public static func id(_ id: String) -> RequestMatch { RequestMatch { $0.id == id } }
}

// MARK: - Remote

extension ScriptedRemote {
    /// Returns `https://scripted.example/tables/Card`.
    public func url(of table: RemoteTableName) -> String? { "https://scripted.example/tables/\(table)" }

    /// Inserts an item, with the planned fault if any.
    ///
    /// - Parameter item: The values to insert.
    /// - Throws: `RemoteFailure`, by a planned fault, or if the ID is taken.
    public func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await change(.insert, item: item)
    }

    /// Updates an item, with the planned fault if any.
    ///
    /// - Parameter item: The values, the changed members, and the version that the server must still have.
    /// - Throws: `RemoteFailure`, by a planned fault, or if the item does not exist or has another version.
    public func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await change(.update, item: item)
    }

    /// Deletes an item, with the planned fault if any.
    ///
    /// - Parameter item: The ID, and the version that the server must still have.
    /// - Throws: `RemoteFailure`, by a planned fault, or if the item does not exist or has another version.
    public func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await change(.delete, item: item)
    }

    /// Restores a deleted item, with the planned fault if any.
    ///
    /// - Parameter item: The values, and the version of the tombstone.
    /// - Throws: `RemoteFailure`, by a planned fault, or if the item does not exist or has another version.
    public func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await change(.undelete, item: item)
    }

    /// Looks an item up, with the planned fault if any.
    ///
    /// - Parameters:
    ///   - table: The table of the item.
    ///   - key: The item's ID, or a property with a unique value.
    /// - Throws: `RemoteFailure`, by a planned fault.
    public func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? {
        let text: String
        switch key {
        case .id(let id): text = id.rawValue
        case .property(_, let value): text = value
        }
        let request = RecordedRequest(kind: .find, table: table, id: text, version: nil, members: [])
        return try await exchange(request) { state throws(RemoteFailure) in
            switch key {
            case .id(let id): state.tables[table]?[id]
            case .property(let name, let value):
                state.tables[table]?.values.first { $0[member: name] == .text(value) }
            }
        }
    }

    /// Returns a page, with the planned fault if any.
    ///
    /// - Parameter page: The table, filter, order and position of the page.
    /// - Throws: `RemoteFailure`, by a planned fault.
    public func page(_ page: PageRequest) async throws(RemoteFailure) -> RemotePage {
        let request = RecordedRequest(kind: .page, table: page.table, id: nil, version: nil, members: [])
        return try await exchange(request) { state throws(RemoteFailure) in
            let items = Array((state.tables[page.table] ?? [:]).values)
            if self.traits.contains(.checksPositions) { try Self.checkPosition(page, among: items) }
            var result = Self.page(page, of: items)
            if self.traits.contains(.generations) { result.generation = "\(state.generations[page.table] ?? 0)" }
            result.backoff = state.backoff
            return result
        }
    }

    // MARK: Exchanges

    private func change(
        _ kind: RecordedRequest.Kind, item: OutgoingItem
    ) async throws(RemoteFailure) -> RemoteResponse {
        let write = Write(kind: kind, item: item)
        return try await exchange(write.record, late: write) { state throws(RemoteFailure) in
            try self.carryOut(write, state: &state)
        }
    }

    /// Waits until the task is cancelled.
    func hang() async throws(RemoteFailure) -> Never {
        do {
            while true { try await Task.sleep(for: .seconds(3600)) }
        } catch {
            throw .lost(error)
        }
    }

    func exchange<T: Sendable>(
        _ request: RecordedRequest, late: Write? = nil, respond: (inout State) throws(RemoteFailure) -> T
    ) async throws(RemoteFailure) -> T {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        let fault = state.withLock { arrive(request, state: &$0) }
        defer { leave() }
        // Yields, so that concurrent requests can overlap.
        await Task.yield()
        switch fault {
        case .loseRequest: throw .lost(NoResponse())
        case .fail(let failure): throw failure
        case .failAfterwards(let failure):
            _ = try? state.withLock { state throws(RemoteFailure) in try respond(&state) }
            throw failure
        case .hang: try await hang()
        case .deliverLate(let count):
            if let late { state.withLock { $0.late.append((count, late)) } }
            throw .lost(NoResponse())
        case .conflict(let change):
            if let id = request.id { edit(request.table, id: ServerID(id), change: change) }
        case .meanwhile(let event): await event()
        case .deliverTwice: _ = try? state.withLock { state throws(RemoteFailure) in try respond(&state) }
        case .loseResponse:
            _ = try? state.withLock { state throws(RemoteFailure) in try respond(&state) }
            throw .lost(NoResponse())
        case .respondWithoutBody:
            let result = try state.withLock { state throws(RemoteFailure) in try respond(&state) }
            guard var bare = result as? RemoteResponse else { return result }
            bare.item = nil
            if let bare = bare as? T { return bare }
            return result
        case nil: break
        }
        return try state.withLock { state throws(RemoteFailure) in try respond(&state) }
    }

    /// Records a request, carries out late ones, and returns its planned fault.
    private func arrive(_ request: RecordedRequest, state: inout State) -> RemoteFault? {
        state.requests.append(request)
        enter(state: &state)
        return consumeFault(of: request, state: &state)
    }

    /// Counts an exchange, and carries out late requests.
    func enter(state: inout State) {
        state.inFlight += 1
        state.mostInFlight = max(state.mostInFlight, state.inFlight)
        let due = state.late.filter { $0.count <= 1 }
        state.late = state.late.filter { $0.count > 1 }.map { ($0.count - 1, $0.request) }
        for (_, write) in due { _ = try? carryOut(write, state: &state) }
    }

    /// Returns the planned fault of a request, or a lasting one.
    func consumeFault(of request: RecordedRequest, state: inout State) -> RemoteFault? {
        guard let place = state.faults.firstIndex(where: { $0.match.matches(request) }) else {
            return state.lastingFaults.first { $0.match.matches(request) }?.fault
        }
        return state.faults.remove(at: place).fault
    }

    func leave() {
        state.withLock { $0.inFlight -= 1 }
    }

    struct NoResponse: Error {}
}

extension ScriptedRemote.Write {
    /// The record of the request.
    var record: RecordedRequest {
        let members = kind == .update ? item.members.filter { item.changed.contains($0.key) } : item.members
        return RecordedRequest(
            kind: kind, table: item.table, id: item.id?.rawValue, version: item.version, members: members)
    }
}
