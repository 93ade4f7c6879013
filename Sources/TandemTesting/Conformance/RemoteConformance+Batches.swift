import Tandem
import TandemSync

extension RemoteConformance {
    static let batchRequirements: [Requirement] = [
        Requirement(remote: "the remote has batches exactly if it declares them") { tested in
            let limit = try await tested.remote.batchLimit()
            try expect(limit >= 1, or: "the limit is \(limit)")
            try expect(tested.features.batches == (limit > 1), or: "the limit is \(limit)")
        },
        Requirement(remote: "a batch has an outcome for each write, in order") { tested in
            try tested.requireBatches()
            let live = try await tested.insert(count: 3)
            let stale = live[2]
            let current = try await tested.update(stale, setting: [("points", .integer(50))])
            let missing = RemoteItem(id: TestedRemote.newID(), members: [("title", .text("Лента"))])
            let new = tested.newItem([("points", .integer(10))])
            let requests = [
                RemoteRequest(.update, item: tested.change(live[0], setting: [("points", .integer(20))])),
                RemoteRequest(.update, item: tested.change(missing, setting: [("title", .text("Магнит"))])),
                RemoteRequest(.delete, item: tested.change(live[1])),
                RemoteRequest(.update, item: tested.change(stale, setting: [("points", .integer(30))])),
                RemoteRequest(.insert, item: new),
            ]
            let outcomes = try await tested.sendAll(requests)
            try (try await tested.succeeded(outcomes[0], of: requests[0])).expectMembers([("points", .integer(20))])
            try await tested.expectDeleted(live[1].id)
            if case .failure(let failure) = outcomes[2] { throw failure }
            try (try await tested.succeeded(outcomes[4], of: requests[4])).expectMembers(new.members)
            guard case .failure(let absent) = outcomes[1] else {
                throw BrokenExpectation(message: "the update of an unknown item succeeded")
            }
            try expect(absent.meansMissing, or: "the update of an unknown item failed with \(absent)")
            guard tested.features.table.versions else { return }
            guard case .failure(let conflict) = outcomes[3] else {
                throw BrokenExpectation(message: "an update with an older version succeeded")
            }
            try await tested.expectConflict(conflict, with: stale.id)
            try await tested.expectUnchanged(current)
        },
        Requirement(remote: "a refused write of a batch leaves the others") { tested in
            try tested.requireBatches()
            let missing = RemoteItem(id: TestedRemote.newID(), members: [("title", .text("Лента"))])
            let refused = RemoteRequest(.update, item: tested.change(missing, setting: [("title", .text("Магнит"))]))
            let limit = min(try await tested.remote.batchLimit(), 5)
            for place in 0..<limit {
                var requests: [RemoteRequest] = []
                for _ in 1..<limit { requests.append(RemoteRequest(.insert, item: tested.newItem())) }
                requests.insert(refused, at: place)
                let outcomes = try await tested.sendAll(requests)
                for index in requests.indices where index != place {
                    _ = try await tested.succeeded(outcomes[index], of: requests[index])
                }
                guard case .failure = outcomes[place] else {
                    throw BrokenExpectation(message: "the update of an unknown item succeeded")
                }
            }
        },
        Requirement(remote: "a batch of the greatest size is stored completely") { tested in
            try tested.requireBatches()
            let limit = min(try await tested.remote.batchLimit(), 1000)
            let requests = (0..<limit).map { number in
                RemoteRequest(.insert, item: tested.newItem([("points", .integer(Int64(number)))]))
            }
            let outcomes = try await tested.sendAll(requests)
            for (outcome, request) in zip(outcomes, requests) {
                try (try await tested.succeeded(outcome, of: request)).expectMembers(request.item.members)
            }
        },
    ]
}

extension TestedRemote {
    func requireBatches() throws { try require(features.batches, or: "The remote has no batches.") }

    /// Sends writes in as few batches as possible.
    func sendAll(_ requests: [RemoteRequest]) async throws -> [Result<RemoteResponse, RemoteFailure>] {
        let limit = max(1, try await remote.batchLimit())
        var outcomes: [Result<RemoteResponse, RemoteFailure>] = []
        for start in stride(from: 0, to: requests.count, by: limit) {
            let batch = Array(requests[start..<min(start + limit, requests.count)])
            let part = try await remote.send(batch)
            try expect(part.count == batch.count, or: "\(batch.count) writes have \(part.count) outcomes")
            outcomes += part
        }
        return outcomes
    }

    /// Returns the item of a write that must have succeeded, as the server has it.
    func succeeded(
        _ outcome: Result<RemoteResponse, RemoteFailure>, of request: RemoteRequest
    ) async throws -> RemoteItem {
        let response = try outcome.get()
        let found = try await inserted(request.item, response: response)
        if let returned = response.item {
            try expect(request.item.id == nil || returned.id == request.item.id, or: "the outcome is another item's")
            try expect(returned.isSame(as: found), or: "the outcome has another state of the item")
        }
        return found
    }
}
