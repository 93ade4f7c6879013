import Tandem

extension Failure {
    /// A store's error in this program's words: what happened, then what to do.
    init(_ error: TandemError) {
        let place = [error.model, error.property].compactMap(\.self).joined(separator: ".")
        let file = error.store.map { " (\($0))" } ?? ""
        self.init(
            Self.status(of: error.code), (place.isEmpty ? "" : "\(place): ") + error.message + file,
            advice: error.advice)
    }

    private static func status(of code: TandemError.Code) -> Status {
        switch code {
        case .cannotOpen: .cannotCreate
        case .readOnly: .noPermission
        case .busy: .tryAgain
        case .diskFull, .ioFailure: .inputOutput
        case .notAStore, .corrupt, .newerSchema, .schemaMismatch, .duplicateValue, .duplicateID, .invalidValue,
            .notFound, .objectDeleted, .overflow:
            .badData
        default: .software
        }
    }
}
