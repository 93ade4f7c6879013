/// What a folder of files takes from outside, and what tests set otherwise.
struct FileFolderOptions: Sendable {
    /// Whether a file has no name until it is complete, where the system can do that. A process that is killed leaves
    /// nothing then; otherwise a `.partial` file, for the sweep.
    var writesUnnamed = true
    /// Whether a file waits for the disk: only tests with very many files don't.
    var flushes = true
    /// The bytes that are read and written at once.
    var pieceSize = 1 << 20
    /// Gives files their names.
    var newName: @Sendable () -> BlobName = { .random() }
    /// Called after each piece that is read from a source, with the number of bytes read so far.
    var didRead: (@Sendable (Int64) throws -> Void)?
}
