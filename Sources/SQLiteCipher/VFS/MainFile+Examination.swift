import Foundation
import GRDBSQLite

/// Diagnosis of a database file: why it can't be read, whether it was replaced, and whether a first page is acceptable.
extension MainFile {
    /// Notes why page 1 can't be read, as far as the rest of the file shows it.
    func explainFirstPage() -> Int32 {
        context.entry.record(examine(), code: SQLITE_NOTADB)
        return SQLITE_NOTADB
    }

    private func examine() -> CipherError {
        FileExamination.examine(context: context) { target, count, offset in
            self.base.read(target, count: count, at: offset)
        } size: {
            self.base.size()
        }
    }

    /// Returns why the key can't decrypt page 1, or `nil` if it can.
    func findingAboutKey() -> CipherError? {
        let page = UnsafeMutableRawPointer.allocate(byteCount: pageSize, alignment: 16)
        defer {
            UnsafeMutableRawBufferPointer(start: page, count: pageSize).wipe()
            page.deallocate()
        }
        if base.read(page, count: pageSize, at: 0) == SQLITE_OK,
            let codec = try? context.readyCodec(), codec.decrypt(page, page: 1, into: page)
        {
            return nil
        }
        return examine()
    }

    /// Whether the path now leads to another file. Without this check, a connection would keep reading the file that a
    /// change of key has replaced.
    var wasReplaced: Bool {
        var moved: Int32 = 0
        let code = base.control(SQLITE_FCNTL_HAS_MOVED, argument: &moved)
        return code == SQLITE_OK && moved != 0 && access(context.path, F_OK) == 0
    }

    func refusal(ofFirstPage source: UnsafeRawPointer) -> CipherError? {
        let high = Int(source.load(fromByteOffset: 16, as: UInt8.self))
        let low = Int(source.load(fromByteOffset: 17, as: UInt8.self))
        let written = high << 8 | low << 16
        let reserve = Int(source.load(fromByteOffset: 20, as: UInt8.self))
        if written == pageSize, context.profile.accepts(reserve: reserve) { return nil }
        return CipherError(
            .unsupportedSQLite,
            message: "Pages of \(written) bytes with \(reserve) reserved don't fit the profile \(context.profile).",
            advice: "Use EncryptedDatabase's encrypt or export to convert a database.", path: context.path)
    }
}
