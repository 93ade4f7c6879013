import HTTPTypes
import Tandem
import TandemSync

/// A mistake of a sync engine, injected around the real one. The simulation must find each.
enum SimMistake: String, CaseIterable, Sendable {
    // Mistakes on the wire.

    /// A pull requests items after its token, and not from the token on.
    case pullsAfterItsPlace
    // Mistakes in the remote's results.

    /// A pull does not request tombstones.
    case asksForNoTombstones
    /// A request whose response was lost counts as never sent.
    case takesLostForUnsent
    /// Changes are written without a version check.
    case writesWithoutVersions
    /// An insert that finds its ID in use adopts the existing object without a comparison.
    case adoptsWithoutComparing
    /// A full pull ends at its first page.
    case endsFullPullsEarly
    /// An insert whose response was lost is sent again without a lookup.
    case omitsLookups
    /// An undelete is assumed to send the values.
    case undeletesWithoutValues
    /// A page omits one item.
    case skipsOneTooMany

    // Mistakes in the store.

    /// The token of a pull is stored before its rows.
    case tokenBeforeRows
    /// Sent values are forgotten, so our own write looks like another client's.
    case forgetsWhatWasSent
    /// References that an insert omitted are never sent.
    case forgetsWhatWasLeftOut
    /// A pull overwrites unsent changes.
    case pullsOverChanges

    /// The maximum number of histories until each mistake is found. It took at most 99 when this was written.
    static let histories = 150

    /// The first history that showed the mistake when this was written, minus one.
    var knownHistory: Int {
        switch self {
        case .takesLostForUnsent, .omitsLookups: 28
        case .writesWithoutVersions: 23
        case .undeletesWithoutValues: 62
        default: 0
        }
    }

    /// Changes a plan to one in which the mistake matters.
    func provoke(_ plan: inout SimPlan) {
        switch self {
        case .adoptsWithoutComparing:
            (plan.isDatasync, plan.hasServerIDs, plan.crowd, plan.acts) = (true, false, 5, 60)
            plan.storm = .stormy(6, refuses: false)
        case .endsFullPullsEarly: (plan.pageSize, plan.pace, plan.crowd, plan.acts) = (1, 60_000, 15, 60)
        case .undeletesWithoutValues:
            (plan.isDatasync, plan.isFickle, plan.crowd, plan.acts) = (false, true, 5, 60)
            (plan.devices, plan.skews, plan.storm) = (1, [0], .stormy(6, refuses: true))
        case .forgetsWhatWasSent:
            (plan.policy, plan.crowd, plan.devices, plan.skews) = (.report, 5, 1, [0])
            plan.storm = .stormy(6, refuses: true)
        case .tokenBeforeRows:
            (plan.pageSize, plan.pace, plan.crowd, plan.acts) = (100, 60_000, 15, 60)
            (plan.deaths, plan.storm) = (700, .calm())
        default: break
        }
    }

    var isOfRemote: Bool {
        switch self {
        case .asksForNoTombstones, .takesLostForUnsent, .writesWithoutVersions, .adoptsWithoutComparing,
            .endsFullPullsEarly, .omitsLookups,
            .undeletesWithoutValues, .skipsOneTooMany:
            true
        default: false
        }
    }

    var isOfStore: Bool {
        switch self {
        case .tokenBeforeRows, .forgetsWhatWasSent, .forgetsWhatWasLeftOut, .pullsOverChanges: true
        default: false
        }
    }

    /// Returns the request that the faulty engine sends.
    func rewritten(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        guard request.method == .get, let path = request.path else { return request }
        if self == .pullsAfterItsPlace { request.path = path.replacing("updatedAt%20ge%20", with: "updatedAt%20gt%20") }
        return request
    }
}

/// The remote of a faulty engine.
struct MistakenRemote: Remote {
    let remote: any Remote
    let mistake: SimMistake

    var format: WireFormat { remote.format }

    func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
        var request = request
        if mistake == .asksForNoTombstones { request.includeDeleted = false }
        if mistake == .skipsOneTooMany, request.skip > 0 { request.skip += 1 }
        var page = try await remote.page(request)
        if mistake == .endsFullPullsEarly, case .id = request.order { page.hasMore = false }
        return page
    }

    func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? {
        if mistake == .omitsLookups, case .property = key { return nil }
        return try await remote.find(table, key: key)
    }

    func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        do {
            return try await remote.insert(item)
        } catch {
            if mistake == .adoptsWithoutComparing, case .conflict(_, let there?, _) = error {
                return RemoteResponse(item: there)
            }
            throw misheard(error)
        }
    }

    func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        do { return try await remote.update(unversioned(item)) } catch { throw misheard(error) }
    }

    func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        do { return try await remote.delete(unversioned(item)) } catch { throw misheard(error) }
    }

    func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        do {
            var response = try await remote.undelete(unversioned(item))
            if mistake == .undeletesWithoutValues { response.tookValues = true }
            return response
        } catch {
            throw misheard(error)
        }
    }

    private func unversioned(_ item: OutgoingItem) -> OutgoingItem {
        var item = item
        if mistake == .writesWithoutVersions { item.version = nil }
        return item
    }

    private func misheard(_ failure: RemoteFailure) -> RemoteFailure {
        if mistake == .takesLostForUnsent, case .lost(let error) = failure { return .notSent(error) }
        return failure
    }
}
