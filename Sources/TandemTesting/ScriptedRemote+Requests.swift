import Foundation
import Tandem
import TandemSync

/// What a ``ScriptedRemote`` was asked.
public struct RecordedRequest: Sendable, CustomStringConvertible {
    /// What was to be done.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case insert, update, undelete, delete, find, page
    }

    public let kind: Kind
    public let table: RemoteTableName
    /// The item's ID, where the request had one; what a look-up by a property looked for.
    public let id: String?
    /// The version that a change was made on.
    public let version: String?
    /// The members sent: of an update those that changed.
    public let members: [RemoteItem.Member]

    /// In a line, to be compared: `update Card 018f…`.
    public var description: String { "\(kind.rawValue) \(table)" + (id.map { " \($0)" } ?? "") }
}

/// One way in which a ``ScriptedRemote`` goes wrong.
public enum RemoteFault: Sendable {
    /// The request never arrives.
    case loseRequest
    /// The request is carried out, and its answer never arrives.
    case loseAnswer
    /// The request arrives twice; the client gets the second answer.
    case deliverTwice
    /// The answer never arrives, and the request does only when so many others have.
    case deliverLate(after: Int)
    /// The request is not carried out, and fails so.
    case fail(RemoteFailure)
    /// The request is carried out, and the answer says nothing of what the item is now.
    case answerWithoutBody
    /// Another device is quicker by a moment: it changes the item before the request is looked at.
    case conflict(@Sendable (inout RemoteItem) -> Void)
    /// Something happens while the request is on its way.
    case meanwhile(@Sendable () async -> Void)
    /// There is no answer until the task is cancelled. The request is not carried out.
    case hang
}

/// Which requests a fault is for.
public struct RequestMatch: Sendable {
    let matches: @Sendable (RecordedRequest) -> Bool

    public init(_ matches: @escaping @Sendable (RecordedRequest) -> Bool) {
        self.matches = matches
    }

    private init(_ kind: RecordedRequest.Kind) {
        self.init { $0.kind == kind }
    }

    public static let any = RequestMatch { _ in true }
    public static let insert = RequestMatch(.insert)
    public static let update = RequestMatch(.update)
    public static let undelete = RequestMatch(.undelete)
    public static let delete = RequestMatch(.delete)
    public static let find = RequestMatch(.find)
    public static let page = RequestMatch(.page)

    /// Requests about one item.
    public static func id(_ id: String) -> RequestMatch { RequestMatch { $0.id == id } }
}

// MARK: - The protocol

extension ScriptedRemote {
    /// `https://scripted.example/tables/Card`.
    public func url(of table: RemoteTableName) -> String? { "https://scripted.example/tables/\(table)" }

    public func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer {
        try await change(.insert, item)
    }

    public func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer {
        try await change(.update, item)
    }

    public func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer {
        try await change(.delete, item)
    }

    public func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer {
        try await change(.undelete, item)
    }

    public func find(_ table: RemoteTableName, _ key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? {
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

    public func page(_ page: PageRequest) async throws(RemoteFailure) -> RemotePage {
        let request = RecordedRequest(kind: .page, table: page.table, id: nil, version: nil, members: [])
        return try await exchange(request) { state throws(RemoteFailure) in
            Self.page(page, of: Array((state.tables[page.table] ?? [:]).values))
        }
    }

    // MARK: Exchanges

    private func change(
        _ kind: RecordedRequest.Kind, _ item: OutgoingItem
    ) async throws(RemoteFailure) -> RemoteAnswer {
        let members = kind == .update ? item.members.filter { item.changed.contains($0.key) } : item.members
        let request = RecordedRequest(
            kind: kind, table: item.table, id: item.id?.rawValue, version: item.version, members: members)
        let write = Write(kind: kind, item: item)
        return try await exchange(request, late: write) { state throws(RemoteFailure) in
            try self.carryOut(write, &state)
        }
    }

    private func exchange<T: Sendable>(
        _ request: RecordedRequest, late: Write? = nil, _ answer: (inout State) throws(RemoteFailure) -> T
    ) async throws(RemoteFailure) -> T {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        let fault = try withState { state throws(RemoteFailure) in arrive(request, &state) }
        defer { leave() }
        // Others get their turn: what may overlap does.
        await Task.yield()
        switch fault {
        case .loseRequest: throw .lost(NoAnswer())
        case .fail(let failure): throw failure
        case .hang:
            do {
                while true { try await Task.sleep(for: .seconds(3600)) }
            } catch {
                throw .lost(error)
            }
        case .deliverLate(let count):
            if let late { try withState { state throws(RemoteFailure) in state.late.append((count, late)) } }
            throw .lost(NoAnswer())
        case .conflict(let change):
            if let id = request.id { edit(request.table, ServerID(id), change) }
        case .meanwhile(let event): await event()
        case .deliverTwice: _ = try? withState { state throws(RemoteFailure) in try answer(&state) }
        case .loseAnswer:
            _ = try? withState { state throws(RemoteFailure) in try answer(&state) }
            throw .lost(NoAnswer())
        case .answerWithoutBody:
            let result = try withState { state throws(RemoteFailure) in try answer(&state) }
            guard var bare = result as? RemoteAnswer else { return result }
            bare.item = nil
            if let bare = bare as? T { return bare }
            return result
        case nil: break
        }
        return try withState { state throws(RemoteFailure) in try answer(&state) }
    }

    /// Notes a request, brings those that are late, and takes the fault that is meant for it.
    private func arrive(_ request: RecordedRequest, _ state: inout State) -> RemoteFault? {
        state.requests.append(request)
        state.inFlight += 1
        state.mostInFlight = max(state.mostInFlight, state.inFlight)
        let due = state.late.filter { $0.count <= 1 }
        state.late = state.late.filter { $0.count > 1 }.map { ($0.count - 1, $0.request) }
        for (_, write) in due { _ = try? carryOut(write, &state) }
        guard let place = state.faults.firstIndex(where: { $0.match.matches(request) }) else { return nil }
        return state.faults.remove(at: place).fault
    }

    private func leave() {
        _ = try? withState { state throws(RemoteFailure) in state.inFlight -= 1 }
    }

    private struct NoAnswer: Error {}
}
