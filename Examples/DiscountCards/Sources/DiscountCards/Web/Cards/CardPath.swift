import Foundation
import Tandem

/// The paths of cards. An ID can be any text, since a server may choose it.
enum CardPath {
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// Returns the path of a card's page.
    static func path(of id: LocalID) -> String {
        "/cards/" + (id.rawValue.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")
    }

    /// Returns the ID in a component of a path.
    static func id(in component: some StringProtocol) -> LocalID {
        LocalID(component.removingPercentEncoding ?? String(component))
    }
}
