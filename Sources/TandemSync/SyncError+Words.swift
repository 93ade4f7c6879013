import Tandem

/// An error whose words are Tandem's own, and have no secret in them: they may stand in the store, in a status and in a
/// log.
package protocol TellableError: Error, CustomStringConvertible {}

extension SyncError: TellableError {}
extension RemoteFailure: TellableError {}
extension BadAnswer: TellableError {}
extension Unsendable: TellableError {}
extension UnreadableValue: TellableError {}
extension UnaskableFilter: TellableError {}

extension SyncError {
    /// What sync says of an error: of one of Tandem's its words, of any other the name of its type. The app's, and those
    /// of a network stack, may have an address with a key in them, or a header.
    package static func words(of error: any Error) -> String {
        switch error {
        case let error as TandemError: error.withoutCause.description
        case let error as any TellableError: error.description
        default: "\(type(of: error))"
        }
    }
}

extension TandemError {
    /// Its description has the cause's in it, which may be anybody's.
    fileprivate var withoutCause: TandemError {
        TandemError(
            code, message, advice: advice, store: store, model: model, property: property, localID: localID,
            sqliteCode: sqliteCode)
    }
}
