import PageServer
import Tandem

extension WebContext {
    /// Returns the card's ID in the path.
    ///
    /// - Throws: ``WebFailure`` if it is missing.
    func requireCardID() throws -> LocalID {
        guard let text = parameters.get("id") else { throw WebFailure.missingCard }
        return CardPath.id(in: text)
    }
}
