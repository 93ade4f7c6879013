import HTTPTypes
import TandemSync

extension Credentials {
    /// Runs an exchange with the user's credentials, and again with new ones if the server refused them with 401.
    ///
    /// - Parameters:
    ///   - head: The request without credentials. The app's fields override those of the request.
    ///   - run: Sends a request, and returns its response and whether that refuses the credentials.
    /// - Returns: The response. The second refusal is final, and is returned.
    package nonisolated func authorize<Response>(
        _ head: HTTPRequest,
        run: (HTTPRequest) async throws(RemoteFailure) -> (response: Response, isRefused: Bool)
    ) async throws(RemoteFailure) -> Response {
        var isSecond = false
        while true {
            let issue = try await current(after: nil)
            var own = head
            for field in issue.fields { own.headerFields[field.name] = field.value }
            let (response, isRefused) = try await run(own)
            guard isRefused else { return response }
            await refuse(issue.number, status: 401)
            guard !isSecond else { return response }
            isSecond = true
        }
    }
}
