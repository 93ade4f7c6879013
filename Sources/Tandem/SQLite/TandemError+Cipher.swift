import GRDB
import SQLiteCipher

extension TandemError {
    /// Converts errors of the encryption and of GRDB to the store's errors. Returns others unchanged.
    static func naming(_ error: any Error, path: String) -> any Error {
        switch error {
        case let error as CipherError: TandemError(error, path: path)
        case let error as DatabaseError:
            TandemError(
                sqlite: error.extendedResultCode.rawValue, message: error.message ?? "\(error.resultCode)", path: path)
        default: error
        }
    }

    /// Creates an error from an error of the encryption.
    init(_ error: CipherError, path: String) {
        self.init(
            Code(error.code), message: error.message, advice: error.advice, store: path, sqliteCode: error.sqliteCode,
            underlying: error.underlying)
    }
}

extension TandemError.Code {
    init(_ code: CipherError.Code) {
        self =
            switch code {
            case .wrongKey: .wrongKey
            case .notEncrypted: .notEncrypted
            case .invalidKey, .invalidOption, .inMemory: .invalidKey
            case .keyUnavailable: .keyUnavailable
            case .notADatabase: .notAStore
            case .damagedPage, .damagedFile: .corrupt
            case .busy: .busy
            case .readOnly: .readOnly
            case .diskFull: .diskFull
            case .ioFailure, .sharedMemory: .ioFailure
            case .sql: .sql
            // These are files that can't be opened, an unsupported SQLite, existing files, and codes of newer versions.
            default: .cannotOpen
            }
    }
}
