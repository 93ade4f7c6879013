import RemoteHTTP
import Tandem
import TandemSync

extension KintoFiles {
    /// Lets a user or a group read or write a file. An object that is shared does not share its files.
    ///
    /// For example:
    ///
    /// ```swift
    /// if let photo = card.photo { try await server.files.share(photo, with: .account("maria")) }
    /// ```
    ///
    /// - Parameters:
    ///   - attachment: A file with a URL of this server.
    ///   - principal: The user or the group.
    ///   - permission: The permission to add.
    /// - Throws: `SyncError.Code.notEncodable` if the file is not uploaded, or has another server's URL;
    ///   `SyncError.Code.refused` if the current user may not write the file; the other errors of a request.
    public func share(
        _ attachment: Attachment, with principal: KintoPrincipal, for permission: KintoPermission = .read
    ) async throws(SyncError) {
        try await change(attachment, by: remote.share(with: principal, for: permission))
    }

    /// Withdraws the permissions of a user or a group for a file. Succeeds if there are none. Devices keep a file that
    /// they have downloaded, and everyone with the plugin's own URL of the bytes can read them.
    ///
    /// - Parameters:
    ///   - attachment: A file with a URL of this server.
    ///   - principal: The user or the group.
    /// - Throws: The errors of ``share(_:with:for:)``.
    public func unshare(_ attachment: Attachment, from principal: KintoPrincipal) async throws(SyncError) {
        try await change(attachment, by: remote.unshare(from: principal))
    }

    private func change(_ attachment: Attachment, by operations: [JSONNode]) async throws(SyncError) {
        try await remote.change(collection, by: operations) { () throws(RemoteFailure) in
            let file = RemoteFile(url: attachment.serverURL ?? "")
            return remote.paths.record(try id(of: file), in: collection)
        }
    }
}
