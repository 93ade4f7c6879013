/// What a server may send.
public struct AnswerLimits: Hashable, Sendable {
    /// The most bytes of an answer. Read as JSON it may take many times as much memory, if a server makes it of little but
    /// commas: whoever raises this has to have that.
    public var bytes = 16 << 20
    /// The most characters of what a server says about an error that are kept.
    public var message = 500
    /// The longest ID, in bytes of UTF-8.
    public var id = 255
    /// The longest version: it travels in a header, and servers have limits for those.
    public var version = 4096

    /// The limits as they are unless an app sets its own.
    public init() {}
}
