import Foundation

/// The source of a file in the folder, if it is complete. For a file in pieces, see ``BlobWriter``.
enum FileSource {
    /// A file's path. A symbolic link is followed, and its target must be a regular file.
    case path(String)
    case bytes(any ContiguousBytes)
}
