import Foundation

/// What a file in the folder is made from, if it is there all at once. For what comes in pieces: ``FileTaking``.
enum FileSource {
    /// A file's path. A symbolic link is followed; where it ends there must be a regular file.
    case path(String)
    case bytes(any ContiguousBytes)
}
