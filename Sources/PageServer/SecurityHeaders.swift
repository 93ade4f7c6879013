import HTTPTypes
import Hummingbird

/// The headers of each response: the browser runs only this server's scripts, and shows its pages in no other site.
public enum SecurityHeaders {
    /// The policy of pages: all content comes from this server, and nothing inline is run or applied.
    public static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
        manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        """
    /// The policy of stored files, which come from anywhere: they are shown, and nothing in them runs.
    public static let filePolicy = "default-src 'none'; sandbox"

    /// Adds the headers that a response does not have yet.
    ///
    /// - Parameter response: The response.
    public static func add(to response: inout Response) {
        func set(_ name: String, to value: String) {
            guard let name = HTTPField.Name(name), response.headers[name] == nil else { return }
            response.headers[name] = value
        }
        set("Content-Security-Policy", to: policy)
        set("X-Content-Type-Options", to: "nosniff")
        // With `no-referrer`, browsers would send `Origin: null` with a form.
        set("Referrer-Policy", to: "same-origin")
        set("Cross-Origin-Opener-Policy", to: "same-origin")
        set("Cross-Origin-Resource-Policy", to: "same-origin")
        set("X-Frame-Options", to: "DENY")
        set("Cache-Control", to: "no-store")
    }
}
