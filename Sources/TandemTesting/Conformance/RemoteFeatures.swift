import TandemSync

/// The features of a remote and its server. ``RemoteConformance`` checks only the requirements that apply to them.
///
/// The defaults fit a server with all features that `Remote` requires, and without the optional ones. Declare each
/// exception: an undeclared one is a violation.
public struct RemoteFeatures: Hashable, Sendable {
    /// Whether items have tombstones, versions and `updatedAt`.
    public var table = TableFeatures()
    /// Whether the client may choose the IDs of new items.
    public var choosesIDs = true
    /// Whether the conflict of an insert with a taken ID has the server's item. Otherwise sync looks it up.
    public var takenIDsHaveItems = true
    /// Whether deleted items can be restored.
    public var undeletes = true
    /// Whether items can be found by the value of a text property.
    public var findsByProperty = true
    /// Whether the server counts the items of a page's request.
    public var counts = true
    /// Whether the server evaluates filters. Filters that it does not support are always allowed, if they are refused.
    public var filters = true
    /// Whether integers beyond ±2^53 keep all of their digits.
    public var exactIntegers = true
    /// Whether -0.0 keeps its sign.
    public var negativeZero = true
    /// The size of the longest text that the server stores, in UTF-8 bytes. A longer one is not sent.
    public var longestText = 100_000
    /// Whether the remote sends several writes in one request.
    public var batches = false
    /// Whether the remote has change tags of tables.
    public var changeTags = false
    /// Whether pages have generations.
    public var generations = false

    /// Creates the default features.
    public init() {}
}
