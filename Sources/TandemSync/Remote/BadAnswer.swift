/// An answer that does not have the shape of one. Nothing of it may be stored.
public struct BadAnswer: Error, Hashable, Sendable {
    /// What is wrong with the answer. More kinds may be added: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case status, notJSON, tooLarge, wrongType, missingID, invalidID, repeatedID, otherItem, invalidVersion
            case noUpdatedAt, invalidTime, outOfOrder, tooManyItems, ambiguous, foreignLink, size, noETag
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// A status that says neither yes nor no to this request.
        public static let status = Code(kind: .status)
        /// The body is no JSON text, or one with a key twice, too deep, or with a number of too many digits: a sign-in
        /// page of a wireless network, half an answer.
        public static let notJSON = Code(kind: .notJSON)
        /// The body is larger than the limit.
        public static let tooLarge = Code(kind: .tooLarge)
        /// The JSON is none of this answer: an array where an object belongs, a number as version.
        public static let wrongType = Code(kind: .wrongType)
        /// An item has no ID.
        public static let missingID = Code(kind: .missingID)
        /// An ID that can't be one: empty, too long, with control characters.
        public static let invalidID = Code(kind: .invalidID)
        /// Two items of a page have one ID.
        public static let repeatedID = Code(kind: .repeatedID)
        /// The item is not the one that was asked for.
        public static let otherItem = Code(kind: .otherItem)
        /// A version that can't be sent back in a header.
        public static let invalidVersion = Code(kind: .invalidVersion)
        /// An item has no `updatedAt`, and the order goes by it.
        public static let noUpdatedAt = Code(kind: .noUpdatedAt)
        /// A time that is none.
        public static let invalidTime = Code(kind: .invalidTime)
        /// The items are not in the order asked for, or lie before its place.
        public static let outOfOrder = Code(kind: .outOfOrder)
        /// There are many more items than were asked for.
        public static let tooManyItems = Code(kind: .tooManyItems)
        /// A property that finds one item found several.
        public static let ambiguous = Code(kind: .ambiguous)
        /// The next page is said to be on another host.
        public static let foreignLink = Code(kind: .foreignLink)
        /// A file has another number of bytes than was said, or than is known of it.
        public static let size = Code(kind: .size)
        /// A file was taken, and the answer does not say which one it is now.
        public static let noETag = Code(kind: .noETag)
    }

    /// What is wrong, to be matched.
    public let code: Code
    /// What is wrong, in a sentence.
    public let message: String
    /// The table asked.
    public let table: RemoteTableName
    /// The address asked: scheme, host, port and path, without user, query and key.
    public let url: String
    /// The answer's status.
    public let status: Int

    /// An answer of the wrong shape. The address is without user, query and key, as it is shown.
    public init(_ code: Code, _ message: String, table: RemoteTableName, url: String, status: Int) {
        self.code = code
        self.message = message
        self.table = table
        self.url = url
        self.status = status
    }
}

extension BadAnswer: CustomStringConvertible {
    public var description: String {
        "\(table): the server's answer can't be used: \(message) (\(url), status \(status))"
    }
}

/// A request that can't be written down: nothing was sent.
public struct Unsendable: Error, Hashable, Sendable {
    /// Why not. More kinds may be added: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case value, memberName, missingID, invalidID, invalidVersion, noChange, filter
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// A value that the wire has no form for: NaN, or an array where the server takes none.
        public static let value = Code(kind: .value)
        /// A member's name that the server keeps for itself, does not take, or that occurs twice.
        public static let memberName = Code(kind: .memberName)
        /// An update or a delete of an item that has no ID on the server.
        public static let missingID = Code(kind: .missingID)
        /// An ID that the server would not take, or not find again.
        public static let invalidID = Code(kind: .invalidID)
        /// A version that can't stand in a header.
        public static let invalidVersion = Code(kind: .invalidVersion)
        /// An update that changes nothing.
        public static let noChange = Code(kind: .noChange)
        /// A filter that the server can't be asked.
        public static let filter = Code(kind: .filter)
    }

    /// What is in the way, to be matched.
    public let code: Code
    /// What is in the way, in a sentence.
    public let message: String
    /// The table concerned, where it is known.
    public let table: RemoteTableName?
    /// The member concerned, by its wire name.
    public let member: String?

    /// What is in the way of a request. The value is not to be in the message.
    public init(_ code: Code, _ message: String, table: RemoteTableName? = nil, member: String? = nil) {
        self.code = code
        self.message = message
        self.table = table
        self.member = member
    }
}

extension Unsendable: CustomStringConvertible {
    public var description: String {
        let place = [table?.rawValue, member].compactMap { $0 }.joined(separator: ".")
        return (place.isEmpty ? "" : "\(place): ") + message
    }
}
