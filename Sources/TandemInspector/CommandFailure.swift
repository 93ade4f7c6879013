import Foundation
import Tandem

/// An error of a command: its exit status, and its text for the user.
package struct CommandFailure: Error {
    package let status: CommandStatus
    /// A sentence about the problem.
    package let message: String
    /// A sentence about the remedy.
    package let advice: String?

    package init(_ status: CommandStatus, message: String, advice: String? = nil) {
        self.status = status
        self.message = message
        self.advice = advice
    }

    /// The text for the error stream.
    var text: String {
        let lines = ["tandem: \(message)"] + (advice.map { [$0] } ?? [])
        return lines.flatMap { $0.split(separator: "\n", omittingEmptySubsequences: false) }
            .map { String($0).printable }.joined(separator: "\n")
    }
}

extension CommandFailure {
    /// Creates the failure for an error, or returns nil if it is an error of the parser.
    package init?(_ error: any Error) {
        switch error {
        case let error as CommandFailure: self = error
        case let error as TandemError: self.init(error)
        case let error as QuerySyntaxError:
            self.init(
                .usage, message: "\(error)\n\(error.marked)",
                advice: "`tandem help query` has examples of conditions.")
        case let error as CipherError:
            self.init(
                Self.status(of: error.code), message: error.message + (error.path.map { " (\($0))" } ?? ""),
                advice: error.advice ?? error.code.advice)
        case let error as CocoaError:
            self.init(.noInput, message: error.localizedDescription, advice: "Check the path.")
        default: return nil
        }
    }

    /// Returns the message of an error that a command reports without ending.
    static func message(of error: any Error) -> String { CommandFailure(error)?.message ?? "\(error)" }

    private init(_ error: TandemError) {
        var message = error.errorDescription ?? error.message
        if let id = error.localID { message += " (object: \(id))" }
        if let store = error.store { message += " (\(store))" }
        if let cause = error.underlying { message += "\nCause: \(cause)" }
        self.init(Self.status(of: error.code), message: message, advice: Self.advice(for: error))
    }

    private static func status(of code: TandemError.Code) -> CommandStatus {
        switch code {
        case .cannotOpen: .noInput
        case .notAStore, .corrupt, .invalidValue: .data
        case .wrongKey, .notEncrypted, .invalidKey, .keyUnavailable: .key
        case .unknownModel, .invalidQuery: .usage
        case .busy: .busy
        default: .failure
        }
    }

    private static func status(of code: CipherError.Code) -> CommandStatus {
        switch code {
        case .wrongKey, .notEncrypted, .invalidKey, .keyUnavailable: .key
        case .damagedPage, .damagedFile, .notADatabase: .data
        case .cannotOpen: .noInput
        case .invalidOption: .usage
        case .busy: .busy
        default: .failure
        }
    }

    /// Returns advice in terms of the command line. The advice of the library is in terms of its functions.
    private static func advice(for error: TandemError) -> String? {
        switch error.code {
        case .corrupt:
            """
            `tandem check` reports the damage. Restore a backup, or copy what is readable: `tandem salvage` if the \
            store is encrypted, else `tandem export` for each model.
            """
        case .wrongKey:
            """
            Check the key, --profile, --page-size and --iterations. A file that is not a store gives the same error, \
            and so does a store whose first page is damaged.
            """
        case .notEncrypted: "Leave out the options of the key."
        case .keyUnavailable, .invalidKey: error.advice
        case .busy: "Close the programs that use the store, or retry later."
        case .newerSchema: "Use the `tandem` command of that version. The store was not changed."
        case .foreignSchemaChange: "Run the command again."
        case .readOnly: "Copy the store to a medium that can be written."
        case .cannotOpen where error.advice?.contains("opened for writing") == true:
            "Check the path. `tandem` never creates a store."
        default: error.advice ?? error.code.advice
        }
    }
}
