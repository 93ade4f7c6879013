import Foundation

extension TandemError {
    /// Returns the error of a system call that failed on a file.
    ///
    /// - Parameters:
    ///   - what: The failed action as a participle. For example, "read".
    ///   - path: The path of the file or its folder.
    ///   - code: The error's code, unless the disk is full or read-only.
    static func file(_ what: String, path: String, reason: Int32 = errno, code: Code = .ioFailure) -> TandemError {
        let (code, advice): (Code, String) =
            switch reason {
            case ENOSPC, EDQUOT: (.diskFull, "Make room on the disk.")
            case EROFS: (.readOnly, "Keep the store on a medium that can be written to.")
            case EACCES, EPERM: (code, "Check its permissions.")
            case EMFILE, ENFILE: (.cannotOpen, "Too many files are open.")
            default: (code, "Check the disk.")
            }
        return TandemError(
            code, message: "The file can't be \(what): \(String(cString: strerror(reason))).", advice: advice,
            store: path)
    }

    static func filesClosed(_ path: String) -> TandemError {
        TandemError(.closed, message: "The store is closed.", store: path)
    }
}
