/// An invalid response of a server. No part of it may be stored.
public struct InvalidResponse: Error, Hashable, Sendable {
    /// The kind of an invalid response. More kinds may be added: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable {
            case status, notJSON, tooLarge, wrongType, missingID, invalidID, repeatedID, otherItem, invalidVersion
            case noUpdatedAt, invalidTime, outOfOrder, tooManyItems, ambiguous, foreignLink, size, noETag
        }
        private let kind: Kind
        /// A text for logs and messages.
        public var description: String { kind.rawValue }

        /// All kinds, in the order of their declaration.
        package static var all: [Code] { Kind.allCases.map { Code(kind: $0) } }

        /// General advice for this code, as one sentence.
        public var advice: String {
            switch kind {
            case .status: "Check the server's address, and that it serves the table."
            case .notJSON: "Check the server's address, and sign in to the network if it has a sign-in page."
            case .tooLarge: "Raise the limit of the response's size, or request less."
            case .noUpdatedAt: "Pull the table without a query ID."
            case .ambiguous: "Delete the duplicate items on the server."
            case .size: "Upload the file again, or report it to the server's operator."
            case .wrongType, .missingID, .invalidID, .repeatedID, .otherItem, .invalidVersion, .invalidTime,
                .outOfOrder, .tooManyItems, .foreignLink, .noETag:
                "Report it to the server's operator."
            }
        }

        /// The status is not valid for this request.
        public static let status = Code(kind: .status)
        /// The body is not JSON that can be read.
        ///
        /// It is not valid, has a repeated key or too many levels, or has a number with too many digits. Examples are a
        /// sign-in page of a wireless network, and a truncated response.
        public static let notJSON = Code(kind: .notJSON)
        /// The body is larger than the limit.
        public static let tooLarge = Code(kind: .tooLarge)
        /// The JSON has the wrong type, for example an array instead of an object, or a number as version.
        public static let wrongType = Code(kind: .wrongType)
        /// An item has no ID.
        public static let missingID = Code(kind: .missingID)
        /// An ID is not valid: empty, too long, or with control characters.
        public static let invalidID = Code(kind: .invalidID)
        /// Two items of a page have the same ID.
        public static let repeatedID = Code(kind: .repeatedID)
        /// The item is not the requested one.
        public static let otherItem = Code(kind: .otherItem)
        /// A version can't be sent back in a header.
        public static let invalidVersion = Code(kind: .invalidVersion)
        /// An item has no `updatedAt`, although the order depends on it.
        public static let noUpdatedAt = Code(kind: .noUpdatedAt)
        /// A time is not valid.
        public static let invalidTime = Code(kind: .invalidTime)
        /// The items are not in the requested order, or lie before its position.
        public static let outOfOrder = Code(kind: .outOfOrder)
        /// The page has many more items than requested.
        public static let tooManyItems = Code(kind: .tooManyItems)
        /// A lookup by a unique property found several items.
        public static let ambiguous = Code(kind: .ambiguous)
        /// The link to the next page names another host.
        public static let foreignLink = Code(kind: .foreignLink)
        /// A file does not have the announced or known number of bytes.
        public static let size = Code(kind: .size)
        /// A file was accepted, and the response does not identify it.
        public static let noETag = Code(kind: .noETag)
    }

    /// The kind of the problem.
    public let code: Code
    /// A description of the problem, as one sentence.
    public let message: String
    /// The requested table.
    public let table: RemoteTableName
    /// The requested address: scheme, host, port and path, without user, query and key.
    public let url: String
    /// The status of the response.
    public let status: Int

    /// Creates an invalid response. Pass the address without user, query and key.
    ///
    /// - Parameters:
    ///   - code: The kind of problem.
    ///   - message: The problem, as a sentence.
    ///   - table: The table of the request.
    ///   - url: The address of the request.
    ///   - status: The HTTP status of the response.
    public init(_ code: Code, message: String, table: RemoteTableName, url: String, status: Int) {
        self.code = code
        self.message = message
        self.table = table
        self.url = url
        self.status = status
    }
}

extension InvalidResponse: CustomStringConvertible {
    /// A text for logs and messages.
    public var description: String {
        "\(table): the server's response can't be used: \(message) (\(url), status \(status))"
    }
}

/// A request that can't be encoded. Nothing was sent.
public struct RequestEncodingError: Error, Hashable, Sendable {
    /// The kind of the problem. More kinds may be added: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable {
            case value, memberName, missingID, invalidID, invalidVersion, noChange, filter
        }
        private let kind: Kind
        /// A text for logs and messages.
        public var description: String { kind.rawValue }

        /// All kinds, in the order of their declaration.
        package static var all: [Code] { Kind.allCases.map { Code(kind: $0) } }

        /// General advice for this code, as one sentence.
        public var advice: String {
            switch kind {
            case .value: "Change the value, or discard the operation."
            case .memberName: "Give the property another name on the server: see @Named(wire:)."
            case .missingID: "Insert the object on the server first."
            case .invalidID: "Use an ID that the server accepts."
            case .invalidVersion: "Pull the object again."
            case .noChange: "Change a property, or discard the operation."
            case .filter: "Filter after the pull, by a query of the store."
            }
        }

        /// A value can't be encoded: NaN, or an array if the server accepts none.
        public static let value = Code(kind: .value)
        /// A member's name is reserved by the server, not accepted, or repeated.
        public static let memberName = Code(kind: .memberName)
        /// The item of an update or a delete has no ID on the server.
        public static let missingID = Code(kind: .missingID)
        /// The server would not accept an ID, or not find it again.
        public static let invalidID = Code(kind: .invalidID)
        /// A version is not valid in a header.
        public static let invalidVersion = Code(kind: .invalidVersion)
        /// An update changes nothing.
        public static let noChange = Code(kind: .noChange)
        /// A filter can't be sent to the server.
        public static let filter = Code(kind: .filter)
    }

    /// The kind of the problem.
    public let code: Code
    /// A description of the problem, as one sentence.
    public let message: String
    /// The affected table, if it is known.
    public let table: RemoteTableName?
    /// The affected member, by its wire name.
    public let member: String?

    /// Creates the error of a request. The message must not contain the value.
    ///
    /// - Parameters:
    ///   - code: The kind of problem.
    ///   - message: The problem, as a sentence.
    ///   - table: The table of the request, if it is known.
    ///   - member: The member that can't be sent, by its wire name.
    public init(_ code: Code, message: String, table: RemoteTableName? = nil, member: String? = nil) {
        self.code = code
        self.message = message
        self.table = table
        self.member = member
    }
}

extension RequestEncodingError: CustomStringConvertible {
    /// A text for logs and messages.
    public var description: String {
        let place = [table?.rawValue, member].compactMap { $0 }.joined(separator: ".")
        return (place.isEmpty ? "" : "\(place): ") + message
    }
}
