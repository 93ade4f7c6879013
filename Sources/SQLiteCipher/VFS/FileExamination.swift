import GRDBSQLite

/// Diagnoses why page 1 can't be read: a wrong key, a plain database, another kind of file, or damage.
enum FileExamination {
    /// The number of pages after the first that are tried with the key. A single readable page proves the key right.
    static let tried = 16

    static func examine(
        context: ConnectionContext,
        read: (UnsafeMutableRawPointer, Int, Int64) -> Int32, size: () -> Int64?
    ) -> CipherError {
        let pageSize = context.pageSize
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: pageSize, alignment: 16)
        defer {
            UnsafeMutableRawBufferPointer(start: buffer, count: pageSize).wipe()
            buffer.deallocate()
        }
        guard let size = size() else {
            return CipherError(.ioFailure, message: "The file's size is unknown.", path: context.path)
        }
        if size >= 16, read(buffer, 16, 0) == SQLITE_OK, PageLayout.isMagic(buffer) {
            return CipherError(
                .notEncrypted, message: "The file is a plain SQLite database, but a key was given.",
                advice: "Open it without a key, or encrypt it first.", path: context.path)
        }
        if size < Int64(pageSize) {
            return CipherError(
                .notADatabase, message: "The file has \(size) bytes, less than one page.",
                advice: "Check the path, or restore a backup.", path: context.path)
        }
        if let codec = try? context.readyCodec() {
            let last = min(Int(size / Int64(pageSize)), 1 + tried)
            for page in stride(from: 2, through: last, by: 1) {
                guard read(buffer, pageSize, Int64((page - 1) * pageSize)) == SQLITE_OK else { continue }
                if codec.decrypt(buffer, page: UInt32(page), into: buffer) {
                    return CipherError(
                        .damagedPage, message: "Page 1 of the database is damaged; the key is right.",
                        advice: "Restore a backup, or salvage the readable rows.", path: context.path, page: 1)
                }
            }
        }
        // 512 bytes is SQLite's smallest page size. A wrong page size looks like a wrong key.
        if size % 512 != 0 {
            return CipherError(
                .notADatabase,
                message: "The file's \(size) bytes are not a whole number of pages, and the key opens none of them.",
                advice: "Check the path, the key and the page size.", path: context.path)
        }
        return CipherError(
            .wrongKey, message: "The key does not open the file.",
            advice:
                "Check the key, the profile, its page size and its iterations. The error is the same if page 1's "
                + "salt is damaged, or if the file is not a database.",
            path: context.path)
    }
}
