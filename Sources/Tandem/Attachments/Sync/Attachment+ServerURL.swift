import Crypto
import Foundation

extension Attachment {
    /// An attachment of which a server says nothing but where it is: a column of plain URLs, as tables had them before.
    ///
    /// Its ID is made of the URL, so that each device, and each pull, gives it the same one: the first 16 bytes of the
    /// URL's SHA-256.
    package init(atServerURL url: String) {
        let digest = FileDigest(SHA256.hash(data: Array(url.utf8)))?.hex ?? ""
        let name = URLComponents(string: url).map { ($0.path as NSString).lastPathComponent } ?? ""
        let file = name == "/" ? "" : name
        // 32 digits of a digest are an ID.
        self.init(
            id: FileID(String(digest.prefix(32)))!, name: file, contentType: ContentType.guess(file), size: nil,
            sha256: nil, serverURL: url)
    }

    /// Whether it was made of its URL alone, so that the URL alone says all of it.
    package var isPlainURL: Bool {
        guard size == nil, sha256 == nil, let serverURL else { return false }
        return self == Attachment(atServerURL: serverURL)
    }
}
