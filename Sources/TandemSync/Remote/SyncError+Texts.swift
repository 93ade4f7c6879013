import Tandem

/// An error with a text that Tandem wrote and that contains no secret. It may appear in the store, in a status and in a
/// log.
package protocol RedactedError: Error, CustomStringConvertible {}

extension SyncError: RedactedError {}
extension RemoteFailure: RedactedError {}
extension InvalidResponse: RedactedError {}
extension RequestEncodingError: RedactedError {}
extension UnreadableValue: RedactedError {}
extension UnsupportedFilterError: RedactedError {}

extension SyncError {
    /// Returns the text for an error: Tandem's own texts, and only the type's name for any other error. Errors of the
    /// app or of a network stack may contain an address with a key, or a header.
    package static func words(of error: any Error) -> String {
        switch error {
        case let error as TandemError: error.withoutCause.description
        case let error as any RedactedError: error.description
        default: "\(type(of: error))"
        }
    }
}

extension TandemError {
    /// A copy without the cause, whose description may come from other code.
    fileprivate var withoutCause: TandemError {
        TandemError(
            code, message: message, advice: advice, store: store, model: model, property: property, localID: localID,
            sqliteCode: sqliteCode)
    }
}
