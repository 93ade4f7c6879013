import Foundation
import Synchronization
import Tandem
import TandemSync
import TandemTesting

/// A remote with all features, over a scripted one, and with one injected mistake. Conformance tests must detect it.
final class MistakenRemote: Remote {
    /// A violation of one requirement.
    enum Mistake: String, CaseIterable {
        case losesTombstones, respondsWithOldVersion, startsAfterPosition, ignoresIncludeDeleted, sortsTimesDescending
        case sortsIDsDescending, losesUnknownMembers, reversesBatch, stopsBatchAtFailure, losesEndOfBatch
        case overwritesTakenID, restoresSilently, ignoresVersionOfUpdate, omitsItemOfConflict, sendsOldItemOfConflict
        case createsUnknownItem, restoresByUpdate, ignoresVersionOfDelete, hidesMissingItem, ignoresVersionOfUndelete
        case losesValuesOfUndelete, hidesTombstoneFromLookup, findsWrongProperty, cutsIDs, ignoresSkip, countsPage
        case endsEarly, neverEnds, exceedsTop, normalizesTexts, cutsTexts, roundsIntegers, losesSignOfZero, dropsNull
        case flattensObjects, ignoresFilters, neverChangesTag, alwaysChangesTag, changesGeneration, ignoresCancellation
        case hidesCancelledInsert, revealsQuery, ignoresChosenID, omitsChangedItems
        case reusesServerID, turnsTimeBack, replacesItems, requiresVersionOfUpdate, requiresVersionOfDelete
        case ignoresDeletes, needsPosition, pagesByOffset, endsAfterWrite, refusesFilters, ignoresFiltersByTime
        case cutsAtZero, storesFloats, mixesItems, checksVersionFirst, checksIDFirst, hidesBatches
    }

    let mistake: Mistake?
    let insertRestoresDeleted: Bool
    let format = WireFormat(nestedJSON: true)
    private let server = ScriptedRemote(format: WireFormat(nestedJSON: true))
    private let state = Mutex(State())

    private struct State {
        var writes = 0
        var requests = 0
        var hanging: [CheckedContinuation<Void, Never>] = []
        var mayHang = true
        /// The first of two concurrent calls, which waits for the second one.
        var first: CheckedContinuation<Void, Never>?
        var hasPaired = false
        var lastInserted: [RemoteItem.Member] = []
        /// The start and the number of read items of a walk by time.
        var walk: (start: WireTimestamp?, read: Int)?
        var writesAtFirstID = 0
    }

    init(_ mistake: Mistake? = nil, insertRestoresDeleted: Bool = false) {
        self.mistake = mistake
        self.insertRestoresDeleted = insertRestoresDeleted
    }

    /// Whether a call hangs.
    var isHanging: Bool { state.withLock { !$0.hanging.isEmpty } }

    /// Ends the calls that hang. No later call hangs.
    func endHangingCalls() {
        let hanging = state.withLock { state in
            defer { (state.hanging, state.first, state.mayHang, state.hasPaired) = ([], nil, false, true) }
            return state.hanging + [state.first].compactMap(\.self)
        }
        for call in hanging { call.resume() }
    }

    func url(of table: RemoteTableName) -> String? {
        "https://mistaken.example/\(table)" + (mistake == .revealsQuery ? "?key=secret" : "")
    }

    // MARK: Reading

    func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
        countRequest()
        var request = request
        if mistake == .ignoresIncludeDeleted { request.includeDeleted = true }
        if mistake == .ignoresSkip { request.skip = 0 }
        if mistake == .ignoresFilters { request.filter = nil }
        if mistake == .exceedsTop { request.top += 1 }
        if mistake == .refusesFilters, request.filter != nil {
            throw .notEncodable(RequestEncodingError(.filter, message: "No filters.", table: request.table))
        }
        if case .updatedAt(let from) = request.order {
            if mistake == .ignoresFiltersByTime { request.filter = nil }
            if mistake == .pagesByOffset { (request.order, request.skip) = offset(from) }
        }
        var page = try await server.page(request)
        page.generation = mistake == .changesGeneration ? "\(state.withLock { $0.requests })" : "1"
        switch (mistake, request.order) {
        case (.losesTombstones, _): page.items.removeAll(where: \.isDeleted)
        case (.startsAfterPosition, .updatedAt(let from?)): page.items.removeAll { $0.updatedAt == from }
        case (.sortsTimesDescending, .updatedAt), (.sortsIDsDescending, .id): page.items.reverse()
        case (.countsPage, _): page.count = page.count.map { _ in page.items.count }
        case (.endsEarly, _): page.hasMore = false
        case (.neverEnds, _): page.hasMore = true
        case (.needsPosition, .updatedAt(nil)): page.items = []
        case (.pagesByOffset, .updatedAt): state.withLock { $0.walk?.read += page.items.count }
        case (.endsAfterWrite, .id(nil)): state.withLock { $0.writesAtFirstID = $0.writes }
        case (.endsAfterWrite, .id): if state.withLock({ $0.writesAtFirstID != $0.writes }) { page.hasMore = false }
        // The requirement changes the points of an item to 9.
        case (.omitsChangedItems, .updatedAt(_?)): page.items.removeAll { $0[member: "points"] == .integer(9) }
        default: break
        }
        return page
    }

    func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? {
        countRequest()
        if mistake == .ignoresCancellation, Task.isCancelled {
            await withCheckedContinuation { call in
                let hangs = state.withLock { state in
                    if state.mayHang { state.hanging.append(call) }
                    return state.mayHang
                }
                if !hangs { call.resume() }
            }
        }
        var key = key
        if mistake == .cutsIDs, case .id(let id) = key {
            let text = id.rawValue.prefix { !"?#/".contains($0) }
            key = .id(ServerID(String(text)))
        }
        if mistake == .findsWrongProperty, case .property(let name, let text) = key {
            let page = try await server.page(PageRequest(table: table, order: .id(after: nil), top: 1000))
            return page.items.first { $0[member: name] != .text(text) }
        }
        let item = try await server.find(table, key: key)
        return mistake == .hidesTombstoneFromLookup && item?.isDeleted == true ? nil : item
    }

    func changeTag(of table: RemoteTableName) async throws(RemoteFailure) -> String? {
        countRequest()
        let (writes, requests) = state.withLock { ($0.writes, $0.requests) }
        switch mistake {
        case .neverChangesTag: return "0"
        case .alwaysChangesTag: return "\(requests)"
        default: return "\(writes)"
        }
    }

    // MARK: Writing

    func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        let item = changed(item)
        guard mistake != .hidesCancelledInsert || !Task.isCancelled else {
            // The task does not inherit the cancellation.
            let server = server
            await Task { _ = try? await server.insert(item) }.value
            throw .notSent(CancellationError())
        }
        var own = item
        if mistake == .ignoresChosenID { own.id = nil }
        if mistake == .reusesServerID, own.id == nil { own.id = "first" }
        if mistake == .mixesItems {
            state.withLock { $0.lastInserted = item.members }
            await waitForAnotherCall()
            own.members = state.withLock { $0.lastInserted }
        }
        let sent = own
        if mistake == .checksIDFirst, let id = own.id, try await server.find(own.table, key: .id(id)) == nil {
            await waitForAnotherCall()
            return try await write { () throws(RemoteFailure) in
                do {
                    return try await server.insert(sent)
                } catch {
                    return try await server.update(sent)
                }
            }
        }
        if let id = own.id, let known = try await server.find(own.table, key: .id(id)) {
            if insertRestoresDeleted || mistake == .restoresSilently, known.isDeleted {
                return try await write { () throws(RemoteFailure) in try await server.undelete(own) }
            }
            if mistake == .overwritesTakenID, !known.isDeleted {
                return try await write { () throws(RemoteFailure) in try await server.update(own) }
            }
        }
        return try await write { () throws(RemoteFailure) in try await server.insert(sent) }
    }

    func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        var own = changed(item)
        if mistake == .ignoresVersionOfUpdate { own.version = nil }
        if mistake == .requiresVersionOfUpdate, own.version == nil {
            throw .refused(status: 428, message: "A version is required.")
        }
        if mistake == .checksVersionFirst, let id = own.id,
            try await server.find(own.table, key: .id(id))?.version == own.version
        {
            own.version = nil
            await waitForAnotherCall()
        }
        let sent = own
        do throws(RemoteFailure) {
            var response = try await write { () throws(RemoteFailure) in try await server.update(sent) }
            if mistake == .respondsWithOldVersion { response.version = item.version }
            if mistake == .losesUnknownMembers, let id = item.id {
                server.edit(item.table, id: id) { $0.set(nil, of: "extra") }
            }
            if mistake == .replacesItems, let id = item.id {
                server.edit(item.table, id: id) { $0.members.removeAll { !item.changed.contains($0.key) } }
                response.item = nil
            }
            return response
        } catch {
            switch (mistake, error) {
            case (.createsUnknownItem, .notFound):
                return try await write { () throws(RemoteFailure) in try await server.insert(sent) }
            case (.restoresByUpdate, .gone):
                return try await write { () throws(RemoteFailure) in try await server.undelete(sent) }
            case (.omitsItemOfConflict, .conflict(let status, _, let detail)):
                throw .conflict(status: status, item: nil, detail: detail)
            case (.sendsOldItemOfConflict, .conflict(let status, var known?, let detail)):
                known.version = item.version
                throw .conflict(status: status, item: known, detail: detail)
            default: throw error
            }
        }
    }

    func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        var own = item
        if mistake == .ignoresVersionOfDelete { own.version = nil }
        if mistake == .ignoresDeletes { return RemoteResponse() }
        if mistake == .requiresVersionOfDelete, own.version == nil {
            throw .refused(status: 428, message: "A version is required.")
        }
        let sent = own
        do throws(RemoteFailure) {
            return try await write { () throws(RemoteFailure) in try await server.delete(sent) }
        } catch {
            if mistake == .hidesMissingItem, case .gone = error { return RemoteResponse() }
            throw error
        }
    }

    func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        var own = changed(item)
        if mistake == .ignoresVersionOfUndelete { own.version = nil }
        if mistake == .losesValuesOfUndelete { own.members = [] }
        let sent = own
        return try await write { () throws(RemoteFailure) in try await server.undelete(sent) }
    }

    func batchLimit() async throws(RemoteFailure) -> Int { mistake == .hidesBatches ? 1 : 4 }

    func send(
        _ requests: [RemoteRequest]
    ) async throws(RemoteFailure) -> [Result<RemoteResponse, RemoteFailure>] {
        var outcomes: [Result<RemoteResponse, RemoteFailure>] = []
        var hasFailed = false
        for (index, request) in requests.enumerated() {
            if hasFailed, mistake == .stopsBatchAtFailure {
                outcomes.append(.failure(.refused(status: 400, message: "An earlier write failed.")))
                continue
            }
            if index == 3, mistake == .losesEndOfBatch {
                outcomes.append(.success(RemoteResponse()))
                continue
            }
            do throws(RemoteFailure) {
                outcomes.append(.success(try await sent(request)))
            } catch {
                hasFailed = true
                outcomes.append(.failure(error))
            }
        }
        return mistake == .reversesBatch ? outcomes.reversed() : outcomes
    }

    // MARK: -

    private func sent(_ request: RemoteRequest) async throws(RemoteFailure) -> RemoteResponse {
        switch request.kind {
        case .insert: try await insert(request.item)
        case .update: try await update(request.item)
        case .delete: try await delete(request.item)
        case .undelete: try await undelete(request.item)
        }
    }

    private func countRequest() { state.withLock { $0.requests += 1 } }

    private func write(
        _ body: () async throws(RemoteFailure) -> RemoteResponse
    ) async throws(RemoteFailure) -> RemoteResponse {
        let response = try await body()
        state.withLock { $0.writes += 1 }
        if mistake == .turnsTimeBack { server.advanceClock(by: -10) }
        return response
    }

    /// Lets the first call of all wait for the second one.
    private func waitForAnotherCall() async {
        await withCheckedContinuation { call in
            let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                guard !state.hasPaired else { return [call] }
                guard let first = state.first else {
                    state.first = call
                    return []
                }
                (state.first, state.hasPaired) = (nil, true)
                return [first, call]
            }
            for call in ready { call.resume() }
        }
    }

    /// Returns the order and offset of the next page of a walk, which continues after the read items.
    private func offset(_ from: WireTimestamp?) -> (PageRequest.Order, Int) {
        state.withLock { state in
            let walk = state.walk ?? (from, 0)
            state.walk = walk
            return (.updatedAt(from: walk.start), walk.read)
        }
    }

    /// Returns an item with the values that the server stores.
    private func changed(_ item: OutgoingItem) -> OutgoingItem {
        var item = item
        if mistake == .dropsNull { item.members.removeAll { $0.value == .null } }
        item.members = item.members.map { ($0.key, changed($0.value)) }
        return item
    }

    private func changed(_ value: JSONNode) -> JSONNode {
        switch (mistake, value) {
        case (.normalizesTexts, .text(let text)): .text(text.precomposedStringWithCanonicalMapping)
        case (.cutsAtZero, .text(let text)): .text(String(text.prefix { $0 != "\0" }))
        case (.storesFloats, .real(let value)): .real(Double(Float(value)))
        case (.cutsTexts, .text(let text)): .text(String(text.prefix(255)))
        case (.roundsIntegers, .integer(let integer)): .integer(Int64(exactly: Double(integer)) ?? .max)
        case (.losesSignOfZero, .real(0)): .real(0)
        case (.flattensObjects, .object): .text("[object Object]")
        default: value
        }
    }
}

extension MistakenRemote.Mistake {
    /// The name of the requirement that must detect the mistake.
    var violated: String {
        switch self {
        case .reusesServerID: "an insert without an ID gets an ID of its own from the server"
        case .turnsTimeBack: "each write sets updatedAt, which never decreases"
        case .replacesItems: "an update changes the changed members and keeps the others"
        case .requiresVersionOfUpdate: "an update without a version overwrites any version"
        case .requiresVersionOfDelete: "a delete without a version deletes any version"
        case .ignoresDeletes: "a delete leaves a tombstone, or nothing if the table has none"
        case .needsPosition: "a page by updatedAt without a position begins at the first item"
        case .pagesByOffset: "pages by updatedAt are complete while items change between pages"
        case .endsAfterWrite: "pages by ID are complete while items change between pages"
        case .refusesFilters: "filters can test texts and integers for equality"
        case .ignoresFiltersByTime: "a filter applies to pages by updatedAt"
        case .cutsAtZero: "a text with U+0000 is kept or refused permanently"
        case .storesFloats: "numbers and Booleans keep their values"
        case .mixesItems: "concurrent calls do not affect each other"
        case .checksVersionFirst: "exactly one of several concurrent updates of a version succeeds"
        case .checksIDFirst: "exactly one of several concurrent inserts with the same ID succeeds"
        case .hidesBatches: "the remote has batches exactly if it declares them"
        case .ignoresChosenID: "an insert creates an item with the client's ID and its values"
        case .overwritesTakenID: "an insert with a taken ID is a conflict with the server's item"
        case .restoresSilently: "an insert with a deleted item's ID restores the item or is refused, as declared"
        case .respondsWithOldVersion: "each write gives the item a version that it did not have before"
        case .losesUnknownMembers: "an update keeps members that the model does not have"
        case .ignoresVersionOfUpdate, .omitsItemOfConflict, .sendsOldItemOfConflict:
            "an update with an older version is a conflict with the server's item"
        case .restoresByUpdate: "an update of a deleted item fails and does not restore it"
        case .createsUnknownItem: "an update or a delete of an unknown item reports that the item does not exist"
        case .ignoresVersionOfDelete: "a delete with an older version is a conflict with the server's item"
        case .hidesMissingItem: "a second delete reports that the item does not exist"
        case .losesValuesOfUndelete: "an undelete restores the item, with the values unless it reports otherwise"
        case .ignoresVersionOfUndelete: "an undelete with an older version is a conflict"
        case .hidesTombstoneFromLookup: "a look-up by ID finds live and deleted items, and nothing for an unknown ID"
        case .findsWrongProperty: "a look-up by a property finds its item"
        case .cutsIDs: "an ID with characters of a path or a query does not name another item"
        case .revealsQuery: "a table's address has no user, query or fragment"
        case .startsAfterPosition: "a page by updatedAt begins at the requested time, inclusive"
        case .omitsChangedItems: "a changed item is in pages from the latest time before its change"
        case .losesTombstones: "a tombstone is in pages from the latest time before the delete"
        case .sortsTimesDescending: "pages by updatedAt are complete"
        case .sortsIDsDescending, .endsEarly, .neverEnds: "pages by ID are complete and without repetitions"
        case .ignoresIncludeDeleted: "pages have deleted items only if requested"
        case .exceedsTop: "a page has at most the requested number of items, and reports that more follow"
        case .ignoresSkip: "a page skips the requested number of items"
        case .countsPage: "a count covers all items of the request, whatever the page's size"
        case .ignoresFilters: "a filter selects exactly its items, or is refused as not encodable"
        case .normalizesTexts: "texts of any script keep each code point"
        case .cutsTexts: "a long text keeps each code point"
        case .roundsIntegers: "integers beyond 2^53 keep all digits"
        case .losesSignOfZero: "-0.0 keeps its sign"
        case .dropsNull: "null is kept, and replaces a value"
        case .flattensObjects: "arrays and objects keep their structure"
        case .hidesCancelledInsert: "a cancelled write ends, and its failure says whether the server may have acted"
        case .ignoresCancellation: "a cancelled read ends with its result or a cancellation"
        case .reversesBatch: "a batch has an outcome for each write, in order"
        case .stopsBatchAtFailure: "a refused write of a batch leaves the others"
        case .losesEndOfBatch: "a batch of the greatest size is stored completely"
        case .neverChangesTag: "the change tag of a table differs after each write"
        case .alwaysChangesTag: "the change tag of a table is equal without a write"
        case .changesGeneration: "all pages of a table have the same generation"
        }
    }
}
