import Tandem

extension SyncError {
    static func noProgress(in coder: ItemCoder) -> SyncError {
        SyncError(
            .noProgress,
            message: "The server sends the same items repeatedly, or its items change faster than it sends them.",
            advice: "If it happens again, report it to the operator.", table: coder.table.rawValue, url: coder.url)
    }

    static func tooManyPages(_ limit: Int, of coder: ItemCoder) -> SyncError {
        SyncError(
            .tooManyPages, message: "The table did not end within \(limit) pages.",
            advice: "Raise SyncContext.Options.pageLimit if it is that large.", table: coder.table.rawValue,
            url: coder.url)
    }

    /// Returns the error to throw for a failed request; `CancellationError` if the task was cancelled.
    static func thrown(for failure: RemoteFailure, coder: ItemCoder) -> any Error {
        if failure.isCancellation { return CancellationError() }
        let error = SyncError(failure, table: coder.table, url: coder.url)
        switch failure {
        case .invalidResponse(let response) where response.code == .noUpdatedAt:
            return SyncError(
                .noUpdatedAt, message: error.message,
                advice: "Pull without a query ID, and call SyncTable.setFeatures(_:).", table: error.table,
                url: error.url, status: error.status, underlying: failure)
        case .notEncodable(let problem) where problem.code == .filter:
            return SyncError(
                .unsupportedFilter, message: error.message, advice: "Pull a wider filter, and query the store.",
                table: error.table, url: error.url, property: error.property, underlying: failure)
        default: return error
        }
    }
}
