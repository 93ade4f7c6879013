import Foundation

/// A file outside the store that is put in place when it is complete and flushed.
final class ExportedFile {
    private let folder: OpenFile
    private let file: OpenFile
    private let name: String
    private let partial = ".tandem-\(BlobName.random()).partial"
    private var isInPlace = false

    init(_ path: String) throws {
        guard !path.utf8.contains(0) else {
            throw TandemError(.cannotOpen, message: "The path contains U+0000.", advice: "Give the path of a file.")
        }
        name = (path as NSString).lastPathComponent
        let folderPath = StoreFile(path).folder
        guard let folder = OpenFile(open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: folderPath) else {
            throw TandemError.file("opened", path: folderPath, code: .cannotOpen)
        }
        guard let file = folder.open(partial, flags: O_WRONLY | O_CREAT | O_EXCL) else {
            throw TandemError.file("made", path: path, code: .cannotOpen)
        }
        self.folder = folder
        self.file = file
    }

    deinit {
        if !isInPlace { unlinkat(folder.number, partial, 0) }
    }

    func write(_ bytes: Data) throws { try bytes.withUnsafeBytes { try file.write($0) } }

    func moveIntoPlace() throws {
        try file.flush()
        guard renameat(folder.number, partial, folder.number, name) == 0 else {
            throw TandemError.file("put in place", path: folder.path + "/" + name)
        }
        isInPlace = true
        try folder.flush()
    }
}
