import RemoteHTTP
import Tandem
import TandemSync

extension KintoRemote {
    /// Returns the folder of the bytes of attached files, with a slash at its end: the one that the server announces,
    /// or the server itself. Only the first call sends a request.
    func attachmentFolder() async throws(RemoteFailure) -> String {
        if let folder = state.attachmentFolder { return folder }
        let request = KintoRequest(method: .get, path: "/", table: "files", purpose: .resource)
        let response = try await client.send(request)
        try decoder.checkStatus(response, request: request)
        _ = try decoder.document(response, to: request)
        guard case .object(let capabilities)? = response.member("capabilities"),
            case .object(let plugin)? = capabilities.first(where: { $0.key == "attachments" })?.value
        else { throw .refused(status: 404, message: "The server has no plugin kinto-attachment.") }
        var folder = "\(paths.api.scheme)://\(paths.api.authority)/"
        if case .text(let base)? = plugin.first(where: { $0.key == "base_url" })?.value, !base.isEmpty {
            folder = base.hasSuffix("/") ? base : "\(base)/"
        }
        state.attachmentFolder = folder
        return folder
    }
}
