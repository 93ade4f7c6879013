import Tandem

extension Failure {
    /// Converts a store's error to this program's message and advice.
    init(_ error: TandemError) {
        let place = [error.model, error.property].compactMap(\.self).joined(separator: ".")
        let file = error.store.map { " (\($0))" } ?? ""
        self.init(
            Self.status(of: error.code), message: (place.isEmpty ? "" : "\(place): ") + error.message + file,
            advice: Self.advice(for: error))
    }

    /// Returns advice in terms of this program. The store's own advice is general.
    private static func advice(for error: TandemError) -> String? {
        switch error.code {
        case .wrongKey:
            "Check --key or \(KeyOptions.variable). Damage to the file's first bytes looks the same."
        case .notEncrypted: "Leave out --key, and unset \(KeyOptions.variable)."
        case .invalidKey: "Give a passphrase with --key or \(KeyOptions.variable), or neither for a plain store."
        default: error.advice
        }
    }

    private static func status(of code: TandemError.Code) -> Status {
        switch code {
        case .cannotOpen: .cannotCreate
        case .readOnly, .wrongKey: .noPermission
        case .invalidKey: .usage
        case .busy: .tryAgain
        case .diskFull, .ioFailure: .inputOutput
        case .notAStore, .notEncrypted, .corrupt, .newerSchema, .schemaMismatch, .duplicateValue, .duplicateID,
            .invalidValue,
            .notFound, .objectDeleted, .overflow:
            .badData
        default: .software
        }
    }
}
