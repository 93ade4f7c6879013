import HTTPTypes
import Tandem

extension FakeKinto {
    /// Handles a request for one resource.
    func handle(_ request: HTTPRequest, body: [UInt8], state: inout State) throws -> Response {
        let target = request.path ?? ""
        let (path, query) =
            target.firstIndex(of: "?").map {
                (String(target[..<$0]), String(target[target.index(after: $0)...]))
            } ?? (target, "")
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3, parts[0].isEmpty, parts[1] == "v1" else { throw Refusal(status: 404, errno: 111) }
        if parts[2].isEmpty {
            let capabilities = state.attachments.map { [("attachments", $0)] } ?? []
            let user = state.user.map { [(key: "user", value: JSONNode.object([("id", .text($0))]))] } ?? []
            return Response(
                body: .object([("settings", settings(state)), ("capabilities", .object(capabilities))] + user))
        }
        guard parts[2] == "buckets", parts.count >= 4 else { throw Refusal(status: 404, errno: 111) }
        let bucket = parts[3]
        if parts.count == 4 { return try putBucket(bucket, request, state: &state) }
        guard let collections = state.buckets[bucket] else { throw Self.forbidden }
        let name = parts[5]
        if parts.count == 6, request.method == .put {
            return try putCollection(name, of: bucket, request, body: body, state: &state)
        }
        guard var collection = collections[name] else { throw Self.missing("collection", name) }
        let shared = state.shared[name]
        if parts.count == 6 {
            guard shared?.mayCreate ?? true else { throw Self.forbidden }
            // Only users who may write the collection see its permissions.
            let permissions =
                shared == nil && state.mayWriteCollections ? [("write", JSONNode.array([.text("me")]))] : []
            let members = collection.members + [("id", .text(name)), ("last_modified", .integer(collection.created))]
            return Response(body: .object([("data", .object(members)), ("permissions", .object(permissions))]))
        }
        guard parts[6] == "records" else { throw Refusal(status: 404, errno: 111) }
        if request.method != .get, request.method != .head, state.readOnly.contains(name) { throw Self.forbidden }
        if parts.count == 7 {
            if let shared, request.method != .post {
                guard shared.mayCreate || !shared.visible.isEmpty else { throw Self.forbidden }
                // A deleted record has no permissions, so that its tombstone is not listed.
                collection.records = collection.records.filter {
                    shared.visible.contains($0.key) && !$0.value.isDeleted
                }
            }
            guard request.method == .post else { return try list(collection, request, query: query, state: state) }
            let members = try Self.data(body, of: request, id: nil)
            let id = "server-\(state.writes)"
            return store(id, members, bucket: bucket, name: name, status: 201, state: &state)
        }
        let id = parts[7]
        if let shared, !shared.visible.contains(id) || collection.records[id]?.isDeleted ?? true {
            guard request.method == .put, shared.mayCreate else { throw Self.forbidden }
        }
        if let shared, request.method != .get, request.method != .head, shared.readOnly.contains(id) {
            throw Self.forbidden
        }
        let response = try exchange(recordID: id, request, body: body, place: (bucket, name), state: &state)
        if request.method == .put { state.shared[name]?.visible.insert(id) }
        return response
    }

    private static var forbidden: Refusal {
        Refusal(status: 403, errno: 121, message: "This user cannot access this resource.")
    }

    private func settings(_ state: State) -> JSONNode { .object([("batch_max_requests", state.batchMaximum)]) }

    static func missing(_ resource: String, _ id: String) -> Refusal {
        Refusal(
            status: 404, errno: 111, details: .object([("id", .text(id)), ("resource_name", .text(resource))]))
    }

    // MARK: Buckets and collections

    private func putBucket(_ bucket: String, _ request: HTTPRequest, state: inout State) throws -> Response {
        guard request.method == .put else { throw Refusal(status: 405) }
        guard state.mayCreateBuckets else { throw Self.forbidden }
        guard state.buckets[bucket] == nil else { throw Refusal(status: 412, errno: 114) }
        state.now += 1
        state.buckets[bucket] = [:]
        return Response(
            status: 201,
            body: .object([("data", .object([("id", .text(bucket)), ("last_modified", .integer(state.now))]))]))
    }

    private func putCollection(
        _ name: String, of bucket: String, _ request: HTTPRequest, body: [UInt8], state: inout State
    ) throws -> Response {
        guard request.headerFields[.ifNoneMatch] == "*" else { throw Refusal(status: 400) }
        guard state.buckets[bucket]?[name] == nil else { throw Refusal(status: 412, errno: 114) }
        let members = try Self.data(body, of: request, id: nil)
        state.now += 1
        state.buckets[bucket]?[name] = Collection(members: members, created: state.now, time: state.now)
        return Response(status: 201, body: .object([("data", .object(members))]))
    }

    // MARK: Records

    /// Handles a request for one record.
    private func exchange(
        recordID id: String, _ request: HTTPRequest, body: [UInt8], place: (bucket: String, name: String),
        state: inout State
    ) throws -> Response {
        guard Self.isID(id) else { throw Self.invalid("id", "Invalid object id") }
        let known = state.buckets[place.bucket]?[place.name]?.records[id]
        let live = known.flatMap { $0.isDeleted ? nil : $0 }
        if request.method != .put, live == nil { throw Self.missing("record", id) }
        try checkPrecondition(request, live: live, id: id)
        switch request.method {
        case .get, .head:
            guard let live else { throw Self.missing("record", id) }
            return Response(
                fields: [.eTag: "\"\(live.time)\""],
                body: .object([("data", Self.node(of: live, id: id)), ("permissions", Self.permissions(id, state))]))
        case .put:
            let members = try Self.data(body, of: request, id: id)
            return store(
                id, members, bucket: place.bucket, name: place.name, status: live == nil ? 201 : 200, state: &state)
        case .patch where request.headerFields[.contentType] == "application/json-patch+json":
            try patchPermissions(id, body: body, state: &state)
            return store(
                id, live?.members ?? [], bucket: place.bucket, name: place.name, status: 200, state: &state)
        case .patch:
            let changes = try Self.data(body, of: request, id: id)
            var members = live?.members ?? []
            for change in changes {
                members.removeAll { $0.key == change.key }
                members.append(change)
            }
            return store(id, members, bucket: place.bucket, name: place.name, status: 200, state: &state)
        case .delete:
            let time = state.tick(place.bucket, place.name)
            let tombstone = Record(time: time, isDeleted: true)
            state.buckets[place.bucket]?[place.name]?.records[id] = tombstone
            return Response(
                fields: [.eTag: "\"\(time)\""], body: .object([("data", Self.node(of: tombstone, id: id))]))
        default: throw Refusal(status: 405)
        }
    }

    private func store(
        _ id: String, _ members: [RemoteMember], bucket: String, name: String, status: Int, state: inout State
    ) -> Response {
        let time = state.tick(bucket, name)
        let record = Record(members: members, time: time)
        state.buckets[bucket]?[name]?.records[id] = record
        return Response(
            status: status, fields: [.eTag: "\"\(time)\""],
            body: .object([
                ("data", Self.node(of: record, id: id)), ("permissions", Self.permissions(id, state)),
            ]))
    }

    // MARK: Permissions

    private static func permissions(_ id: String, _ state: State) -> JSONNode {
        .object(
            (state.permissions[id] ?? [:]).map { ($0.key, .array($0.value.sorted().map { .text($0) })) }
                .sorted { $0.0 < $1.0 })
    }

    /// Carries out a JSON patch, of which all operations change permissions.
    private func patchPermissions(_ id: String, body: [UInt8], state: inout State) throws {
        guard case .array(let operations) = try body.withUnsafeBufferPointer({ try ExactJSON.parseWire($0) }) else {
            throw Self.invalid("body", "Invalid JSON")
        }
        for case .object(let operation) in operations {
            guard case .text(let kind)? = operation["op"], case .text(let path)? = operation["path"] else {
                throw Self.invalid("body", "JSON Patch operation failed")
            }
            // Python splits and replaces characters also if a combining accent follows. Its jsonpointer refuses a "~"
            // before any character other than 0 and 1.
            let escapes = path.utf8.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false).dropFirst()
            guard escapes.allSatisfy({ $0.first == UInt8(ascii: "0") || $0.first == UInt8(ascii: "1") }) else {
                throw Self.invalid("body", "JSON Patch operation failed: \(path)")
            }
            let parts = path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map {
                String($0).replacingOccurrences(of: "~1", with: "/", options: .literal)
                    .replacingOccurrences(of: "~0", with: "~", options: .literal)
            }
            guard parts.count == 4, parts[0].isEmpty, parts[1] == "permissions", ["read", "write"].contains(parts[2])
            else { throw Self.invalid("body", "JSON Patch operation failed: \(path)") }
            switch kind {
            case "add": state.permissions[id, default: [:]][parts[2], default: []].insert(parts[3])
            case "remove":
                guard state.permissions[id]?[parts[2]]?.remove(parts[3]) != nil else {
                    throw Self.invalid("body", "JSON Patch operation failed: can't remove a non-existent object")
                }
            default: throw Self.invalid("body", "JSON Patch operation failed: \(kind)")
            }
        }
        // The server adds the user of a write.
        if let user = state.user { state.permissions[id, default: [:]]["write", default: []].insert(user) }
    }

    // MARK: Preconditions

    private func checkPrecondition(_ request: HTTPRequest, live: Record?, id: String) throws {
        let ifMatch = request.headerFields[.ifMatch]
        let ifNoneMatch = request.headerFields[.ifNoneMatch]
        if let ifMatch {
            let text = ifMatch.dropFirst().dropLast()
            guard ifMatch.hasPrefix("\""), ifMatch.hasSuffix("\""), let time = Int64(text) else {
                throw Self.invalid("If-Match", "The value should be integer between double quotes.")
            }
            guard live?.time != time else { return }
        } else {
            guard ifNoneMatch == "*", live != nil else { return }
        }
        throw Refusal(
            status: 412, errno: 114, message: "Resource was modified meanwhile",
            details: live.map { .object([("existing", Self.node(of: $0, id: id))]) })
    }

    static func node(of record: Record, id: String) -> JSONNode {
        if record.isDeleted {
            return .object([
                ("id", .text(id)), ("last_modified", .integer(record.time)), ("deleted", .bool(true)),
            ])
        }
        return .object(record.members + [("id", .text(id)), ("last_modified", .integer(record.time))])
    }

    private static func isID(_ id: String) -> Bool {
        id.range(of: "^[a-zA-Z0-9][a-zA-Z0-9_-]*$", options: .regularExpression) != nil
    }
}
