import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

extension KintoRemote {
    /// The maximum size of a batch if the server does not limit it.
    private static let unlimitedBatch = 100

    /// Returns the maximum number of requests in a batch, `batch_max_requests`. Only the first call sends a request.
    public func batchLimit() async throws(RemoteFailure) -> Int {
        if let limit = state.batchLimit { return limit }
        let request = KintoRequest(method: .get, path: "/", table: "batch", purpose: .resource)
        let response = try await client.send(request)
        try decoder.checkStatus(response, request: request)
        _ = try decoder.document(response, to: request)
        guard case .object(let settings)? = response.member("settings") else {
            throw decoder.bad(
                .wrongType, message: "The server does not describe its settings.", request: request,
                response: response)
        }
        let limit: Int
        switch settings.first(where: { $0.key == "batch_max_requests" })?.value {
        case nil, .null, .integer(0): limit = Self.unlimitedBatch
        case .integer(let number) where number > 0: limit = Int(min(number, 1000))
        default:
            throw decoder.bad(
                .wrongType, message: "batch_max_requests is not a number of requests.", request: request,
                response: response)
        }
        state.batchLimit = limit
        return limit
    }

    /// Sends several writes in one request. Each has its own outcome.
    ///
    /// The server carries out a batch as one transaction: a failure of the server undoes it all, and is thrown.
    public func send(
        _ requests: [RemoteRequest]
    ) async throws(RemoteFailure) -> [Result<RemoteResponse, RemoteFailure>] {
        // A write without an outcome may have been carried out.
        var outcomes: [Result<RemoteResponse, RemoteFailure>] = Array(
            repeating: .failure(.lost(MissingOutcome())), count: requests.count)
        var writes: [BatchedWrite] = []
        for (index, request) in requests.enumerated() {
            do throws(RequestEncodingError) {
                writes.append(
                    BatchedWrite(index: index, version: request.item.version, request: try encoder.write(request)))
            } catch {
                outcomes[index] = .failure(.notEncodable(error))
            }
        }
        // An undelete needs a look-up of its own.
        let alone = writes.count == 1 ? writes : writes.filter(\.needsLookUp)
        let together = writes.count == 1 ? [] : writes.filter { !$0.needsLookUp }
        let ready = outcomes
        return try await withWriteLock { () async throws(RemoteFailure) in
            var outcomes = ready
            if !together.isEmpty {
                try await self.sendBatch(together, outcomes: &outcomes)
                for write in together {
                    guard case .failure(let failure) = outcomes[write.index] else { continue }
                    outcomes[write.index] = .failure(await self.confirmed(failure, of: write.request))
                }
            }
            for write in alone {
                do throws(RemoteFailure) {
                    outcomes[write.index] = .success(
                        try await self.send(write.request, version: write.version))
                } catch {
                    outcomes[write.index] = .failure(error)
                }
            }
            return outcomes
        }
    }

    /// Sends writes until each has an outcome.
    ///
    /// - Throws: The failure of the first request. A later failure is an outcome of its writes, because others are
    ///   stored by then.
    private func sendBatch(
        _ writes: [BatchedWrite], outcomes: inout [Result<RemoteResponse, RemoteFailure>]
    ) async throws(RemoteFailure) {
        var pending = writes
        var tries = 0
        var hasCreated = false
        var isFirst = true
        while !pending.isEmpty {
            let responses: [KintoResponse]
            do throws(RemoteFailure) {
                responses = try await exchange(pending)
            } catch {
                // The server's limit may have changed.
                if case .refused = error { state.batchLimit = nil }
                if isFirst { throw error }
                for write in pending { outcomes[write.index] = .failure(error) }
                return
            }
            isFirst = false
            let (again, missing) = collect(responses, of: pending, mayCreate: creates && !hasCreated, into: &outcomes)
            if !missing.isEmpty {
                hasCreated = true
                for (table, resource) in missing {
                    do throws(RemoteFailure) {
                        try await create(table, missing: resource)
                    } catch {
                        for write in again { outcomes[write.index] = .failure(error) }
                        return
                    }
                }
            } else {
                tries += 1
            }
            pending = again
            if tries == Self.contentionTries { break }
        }
        // The outcome of each is known: nothing was stored.
        for write in pending { outcomes[write.index] = .failure(.later(status: 409, retryAfter: nil)) }
    }

    /// Records the outcomes of a batch, and returns the writes to be sent again and the collections to be created.
    ///
    /// A 409 says that another writer chose the same time. It undoes all writes of the batch before it, although their
    /// responses report success.
    private func collect(
        _ responses: [KintoResponse], of writes: [BatchedWrite], mayCreate: Bool,
        into outcomes: inout [Result<RemoteResponse, RemoteFailure>]
    ) -> (again: [BatchedWrite], missing: [RemoteTableName: String?]) {
        let undone = responses.lastIndex { $0.status == 409 } ?? -1
        var again: [BatchedWrite] = []
        var missing: [RemoteTableName: String?] = [:]
        for (write, response) in zip(writes, responses) { recordKnown(write.request.table, by: response) }
        for (place, (write, response)) in zip(writes, responses).enumerated() {
            let table = write.request.table
            if response.status == 409 || place < undone && response.head.status.kind == .successful {
                again.append(write)
            } else if mayCreate, mayBeMissing(response, table: table) {
                again.append(write)
                missing[table] = response.missing
            } else {
                do throws(RemoteFailure) {
                    outcomes[write.index] = .success(
                        try decoder.written(withAdviceIfForbidden(response, table: table), to: write.request))
                } catch {
                    outcomes[write.index] = .failure(error)
                }
            }
        }
        return (again, missing)
    }

    // MARK: Bytes

    private func exchange(_ writes: [BatchedWrite]) async throws(RemoteFailure) -> [KintoResponse] {
        let table = writes.first?.request.table ?? "batch"
        let request = KintoRequest(
            method: .post, path: "/batch",
            body: .object([("requests", .array(writes.map { $0.request.batched }))]), table: table, purpose: .resource)
        // Kinto does not authenticate the batch, but each of its requests.
        let response = try await client.send(request) { $0.status == 401 || $0.refusesEachPart }
        if response.refusesEachPart { throw .unauthenticated(status: 401, underlying: nil) }
        try decoder.checkStatus(response, request: request)
        guard case .object(let members) = try decoder.document(response, to: request),
            case .array(let nodes)? = members.first(where: { $0.key == "responses" })?.value,
            nodes.count == writes.count
        else {
            throw decoder.bad(
                .wrongType, message: "The response does not have a response for each request.", request: request,
                response: response)
        }
        return try nodes.map { node throws(RemoteFailure) in
            guard let part = KintoResponse(node, in: response) else {
                throw decoder.bad(
                    .wrongType, message: "A part of the response has no status.", request: request,
                    response: response)
            }
            return part
        }
    }
}
