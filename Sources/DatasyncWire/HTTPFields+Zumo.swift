import HTTPTypes

extension HTTPFields {
    /// Creates the header field `X-ZUMO-AUTH` with a token of Azure Mobile Apps.
    ///
    /// - Parameter token: The token that Azure Mobile Apps gave the user.
    public static func zumo(_ token: String) -> HTTPFields {
        [.zumoToken: token]
    }
}

extension HTTPField.Name {
    fileprivate static let zumoToken = Self("x-zumo-auth")!
}
