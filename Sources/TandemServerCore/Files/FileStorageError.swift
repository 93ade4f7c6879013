/// The reason why a file storage can't store or find a file.
public struct FileStorageError: Error, Sendable, CustomStringConvertible {
    /// The kind of an error. Later versions may add kinds: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable { case cannotOpen, outOfSpace, failed, damaged }
        private let kind: Kind
        /// The code's name.
        public var description: String { kind.rawValue }

        /// All kinds of errors, in the order of their declaration.
        package static var all: [Code] { Kind.allCases.map { Code(kind: $0) } }

        /// General advice for this code, as one sentence. A single error can carry more specific advice.
        public var advice: String {
            switch kind {
            case .cannotOpen: "Choose a folder that exists and can be written."
            case .outOfSpace: "Free space on the disk."
            case .failed: "Check the disk, then try again."
            case .damaged: "Restore the folder from a backup, or remove the file."
            }
        }

        /// The path is not a folder, or the process can't use it.
        public static let cannotOpen = Code(kind: .cannotOpen)
        /// The disk is full, or the quota is used up.
        public static let outOfSpace = Code(kind: .outOfSpace)
        /// A read or write failed.
        public static let failed = Code(kind: .failed)
        /// The storage contains something it has not written: a link, or an invalid record.
        public static let damaged = Code(kind: .damaged)
    }

    /// The kind of the error.
    public let code: Code
    /// A description of the error.
    public let message: String

    init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

extension FileStorageError.Code {
    /// Matches a code in a `catch`: `catch FileStorageError.Code.outOfSpace`.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? FileStorageError)?.code == code
    }
}
