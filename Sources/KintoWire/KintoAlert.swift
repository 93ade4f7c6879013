import HTTPTypes
import RemoteHTTP
import Tandem

/// An announcement of the server's operator, such as the end of the service: the header `Alert`.
public struct KintoAlert: Hashable, Sendable {
    /// The kind of the announcement, for example `soft-eol` or `hard-eol`.
    public var code: String
    /// The operator's message, shortened.
    public var message: String
    /// An address with more information, if there is one.
    public var url: String?

    /// Creates an announcement.
    ///
    /// - Parameters:
    ///   - code: The kind of the announcement.
    ///   - message: The operator's message.
    ///   - url: An address with more information.
    public init(code: String, message: String, url: String? = nil) {
        self.code = code
        self.message = message
        self.url = url
    }
}

extension KintoAlert {
    /// Decodes the header of a response: JSON, or plain text. `nil` if there is no announcement.
    init?(_ response: HTTPResponse, limit: Int) {
        guard var text = response.headerFields[.alert], !text.isEmpty else { return nil }
        guard case .object(let members)? = text.withUTF8({ try? ExactJSON.parseWire($0) }) else {
            self.init(code: "", message: ServerMessage.visible(text, limit: limit))
            return
        }
        func value(_ name: String) -> String? {
            guard case .text(let text)? = members.first(where: { $0.key == name })?.value else { return nil }
            return ServerMessage.visible(text, limit: limit)
        }
        self.init(code: value("code") ?? "", message: value("message") ?? "", url: value("url"))
    }
}

extension HTTPField.Name {
    fileprivate static let alert = Self("alert")!
}
