/// The dependencies and settings of a folder of files, which tests replace.
struct FileFolderOptions: Sendable {
    /// Whether a file has no name until it is complete, if the system supports that. A killed process then leaves no
    /// file. Otherwise it leaves a `.partial` file for the sweep.
    var writesUnnamed = true
    /// Whether a file waits for the disk. Only tests with very many files disable this.
    var flushes = true
    /// The number of bytes that are read and written at once.
    var pieceSize = 1 << 20
    /// The generator of file names.
    var newName: @Sendable () -> BlobName = { .random() }
    /// A closure that is called after each piece read from a source, with the number of bytes read so far.
    var didRead: (@Sendable (Int64) throws -> Void)?
}
