import Foundation

extension TandemError {
    /// A call of the system's that failed on a file.
    ///
    /// - Parameters:
    ///   - what: What it could not be: "read", say.
    ///   - path: The file, or the folder that it lies in.
    ///   - code: What it is, if the disk is not full and may be written to.
    static func file(_ what: String, _ path: String, reason: Int32 = errno, code: Code = .ioFailure) -> TandemError {
        let (code, advice): (Code, String) =
            switch reason {
            case ENOSPC, EDQUOT: (.diskFull, "Make room on the disk.")
            case EROFS: (.readOnly, "Keep the store on a medium that can be written to.")
            case EACCES, EPERM: (code, "Check its permissions.")
            case EMFILE, ENFILE: (.cannotOpen, "Too many files are open.")
            default: (code, "Check the disk.")
            }
        return TandemError(
            code, "The file can't be \(what): \(String(cString: strerror(reason))).", advice: advice, store: path)
    }

    static func filesClosed(_ path: String) -> TandemError {
        TandemError(.closed, "The store is closed.", store: path)
    }
}
