/// Why a shelf can't keep or find a file.
public struct FileShelfError: Error, Sendable, CustomStringConvertible {
    /// What kind of error it is. More kinds may be added: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable { case cannotOpen, outOfSpace, failed, damaged }
        private let kind: Kind
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

        /// The folder is none, or can't be used.
        public static let cannotOpen = Code(kind: .cannotOpen)
        /// The disk is full, or the quota is used up.
        public static let outOfSpace = Code(kind: .outOfSpace)
        /// Something was not read or written.
        public static let failed = Code(kind: .failed)
        /// What lies there is not what a shelf has written: a link, or no record.
        public static let damaged = Code(kind: .damaged)
    }

    /// What kind of error it is.
    public let code: Code
    /// What happened.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

extension FileShelfError.Code {
    /// Lets a `catch` match a code: `catch FileShelfError.Code.outOfSpace`.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? FileShelfError)?.code == code
    }
}
