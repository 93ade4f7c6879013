import Foundation

/// The media types of the most common file name extensions. All other files are bytes of an unknown kind.
enum ContentType {
    private static let byEnding = [
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
        "heic": "image/heic", "heif": "image/heif", "avif": "image/avif", "tif": "image/tiff", "tiff": "image/tiff",
        "bmp": "image/bmp", "svg": "image/svg+xml", "pdf": "application/pdf", "json": "application/json",
        "xml": "application/xml", "zip": "application/zip", "gz": "application/gzip", "txt": "text/plain",
        "md": "text/markdown", "csv": "text/csv", "html": "text/html", "htm": "text/html", "mp3": "audio/mpeg",
        "m4a": "audio/mp4", "wav": "audio/wav", "ogg": "audio/ogg", "mp4": "video/mp4", "m4v": "video/mp4",
        "mov": "video/quicktime", "webm": "video/webm",
    ]

    static func guess(_ name: String) -> String {
        byEnding[(name as NSString).pathExtension.lowercased()] ?? Attachment.unknownType
    }
}
