import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

// Permissions are not part of an object, so they are not queued: these calls need the network. The object must be on
// the server.

extension KintoRemote {
    /// Lets a user or a group read or write an object.
    ///
    /// For example:
    ///
    /// ```swift
    /// try await server.remote.share(card, with: .account("maria"), for: .write)
    /// ```
    ///
    /// The current user needs the permission `write` for the object's record, collection or bucket. Each device of the
    /// other user fetches the object with its next pull, although no value has changed.
    ///
    /// - Parameters:
    ///   - object: An object that the server has.
    ///   - principal: The user or the group.
    ///   - permission: The permission to add.
    /// - Throws: `SyncError.Code.notEncodable` if the object has no server ID yet; `SyncError.Code.refused` if the
    ///   current user may not write the object; the other errors of a request.
    public func share<M: Model>(
        _ object: M, with principal: KintoPrincipal, for permission: KintoPermission = .read
    ) async throws(SyncError) {
        try await change(M.remoteTable, by: share(with: principal, for: permission)) { () throws(RemoteFailure) in
            try self.path(of: object)
        }
    }

    /// Withdraws the permissions of a user or a group for an object. Succeeds if there are none.
    ///
    /// Each device of the other user removes the object with its next pull, and has it until then. Permissions for the
    /// whole collection or bucket stay valid. The server adds the user of this call to the users who may write the
    /// object.
    ///
    /// - Parameters:
    ///   - object: An object that the server has.
    ///   - principal: The user or the group.
    /// - Throws: The errors of ``share(_:with:for:)``.
    public func unshare<M: Model>(_ object: M, from principal: KintoPrincipal) async throws(SyncError) {
        try await change(M.remoteTable, by: unshare(from: principal)) { () throws(RemoteFailure) in
            try self.path(of: object)
        }
    }

    /// Returns the permissions of an object. The server shows them only to users who may write it.
    ///
    /// - Parameter object: An object that the server has.
    /// - Throws: `SyncError.Code.notEncodable` if the object has no server ID yet; `SyncError.Code.refused` if the
    ///   object does not exist, or if the current user may not read it; the other errors of a request.
    public func permissions<M: Model>(of object: M) async throws(SyncError) -> KintoPermissions {
        let table = M.remoteTable
        return try await reporting(errorsOf: table) { () async throws(RemoteFailure) in
            let request = KintoRequest(
                method: .get, path: try self.path(of: object), table: table, purpose: .record)
            return try await self.permissions(request)
        }
    }

    /// Returns the current user, so that another user can share objects with it. An account is also
    /// ``KintoPrincipal/account(_:)`` with its name.
    ///
    /// - Throws: `SyncError.Code.unauthenticated` if the credentials are missing or not valid; the other errors of a
    ///   request.
    public func principal() async throws(SyncError) -> KintoPrincipal {
        try await reporting(errorsOf: nil) { () async throws(RemoteFailure) in
            let request = KintoRequest(method: .get, path: "/", table: "user", purpose: .resource)
            let response = try await self.client.send(request)
            try self.decoder.checkStatus(response, request: request)
            _ = try self.decoder.document(response, to: request)
            // The server does not refuse this request without credentials.
            guard case .object(let user)? = response.member("user") else {
                throw .unauthenticated(status: 401, underlying: nil)
            }
            guard case .text(let id)? = user.first(where: { $0.key == "id" })?.value, !id.isEmpty else {
                throw self.decoder.bad(
                    .wrongType, message: "The user has no ID.", request: request, response: response)
            }
            return KintoPrincipal(rawValue: id)
        }
    }

    // MARK: Requests

    /// Returns the JSON patch that adds a permission.
    func share(with principal: KintoPrincipal, for permission: KintoPermission) -> [JSONNode] {
        [patch("add", permission: permission, of: principal)]
    }

    /// Returns the JSON patch that removes all permissions of a principal. The server refuses to remove a permission
    /// that does not exist.
    func unshare(from principal: KintoPrincipal) -> [JSONNode] {
        KintoPermission.allCases.flatMap { permission in
            ["add", "remove"].map { patch($0, permission: permission, of: principal) }
        }
    }

    /// Changes the permissions of a record by a JSON patch.
    func change(
        _ table: RemoteTableName, by operations: [JSONNode], path: () throws(RemoteFailure) -> String
    ) async throws(SyncError) {
        try await reporting(errorsOf: table) { () async throws(RemoteFailure) in
            let request = KintoRequest(
                method: .patch, path: try path(),
                fields: [.contentType: "application/json-patch+json"], body: .array(operations), table: table,
                purpose: .record)
            _ = try await self.withWriteLock { () async throws(RemoteFailure) in try await self.permissions(request) }
        }
    }

    /// Sends a request for a record, and again if another writer chose the same time.
    private func permissions(_ request: KintoRequest) async throws(RemoteFailure) -> KintoPermissions {
        var response = try await send(request)
        for _ in 1..<Self.contentionTries where response.status == 409 { response = try await send(request) }
        try decoder.checkStatus(response, request: request)
        _ = try decoder.document(response, to: request)
        guard let permissions = KintoPermissions(response.member("permissions")) else {
            throw decoder.bad(
                .wrongType, message: "The permissions are not lists of names.", request: request, response: response)
        }
        return permissions
    }

    /// Returns an operation of a JSON patch, with the characters `~` and `/` of the name escaped. The characters are
    /// compared as scalars: a `/` or `~` with a combining accent is another `Character`.
    private func patch(_ operation: String, permission: KintoPermission, of principal: KintoPrincipal) -> JSONNode {
        let name = principal.rawValue.unicodeScalars.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
        return .object([("op", .text(operation)), ("path", .text("/permissions/\(permission.rawValue)/\(name)"))])
    }

    private func path<M: Model>(of object: M) throws(RemoteFailure) -> String {
        try encoded { () throws(RequestEncodingError) in
            guard let id = object.serverID else {
                throw RequestEncodingError(
                    .missingID, message: "The object is not on the server yet.", table: M.remoteTable)
            }
            return try encoder.path(of: id, in: M.remoteTable)
        }
    }

    /// Runs an exchange, and throws its failure as an error for the app.
    private func reporting<T>(
        errorsOf table: RemoteTableName?, body: () async throws(RemoteFailure) -> T
    ) async throws(SyncError) -> T {
        do {
            return try await body()
        } catch {
            throw SyncError(error, table: table, url: table.flatMap(url))
        }
    }
}

extension Model {
    /// The model's collection.
    fileprivate static var remoteTable: RemoteTableName { RemoteTableName(__definition.wireName) }
}
