import Foundation
import Tandem

/// The progress of a full pull. It is committed with each page, so that an interrupted pull resumes.
///
/// It is stored among the sync tokens of the table, which purges, adoption and migrations remove: a token for the pull,
/// and one for each page with a hash of each ID. A page writes eight bytes per item, however large the table is.
/// Row numbers would not do: SQLite reuses the number of a deleted row, and a refused item has no row.
struct FullPullProgress: Sendable {
    /// The digest of the query's filter.
    let digest: [UInt8]
    /// The server's time when the pull began, less the overlap.
    let start: WireTimestamp
    /// The history of the table that the pages are from.
    var history = ServerHistory()
    /// The time of the newest item that is older than `start`; `nil` without one, or if the caller does not need it.
    var newest: WireTimestamp?
    /// The number of tokens that are stored for pages.
    var tokens = 0

    /// The greatest age in seconds. An older pull begins again: fetching all later changes would cost as much.
    private static let longestAge: TimeInterval = 86_400

    /// No app uses this character in a query ID.
    private static let pullKey = "\u{0}resume"

    private static let newestKey = "\u{0}resume newest"

    private static func pageKey(_ index: Int) -> String { "\(pullKey) \(index)" }

    /// The hash by which an ID is stored: 64-bit FNV-1a, which is the same in every process.
    static func hash(_ id: ServerID) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in id.rawValue.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }

    // MARK: Writing

    /// Adds a page, within the transaction that stores its items.
    ///
    /// - Parameters:
    ///   - hashes: The hashes of the page's IDs, and of those of earlier pages that were not written. At least one.
    ///   - last: The ID of the page's last item.
    func write(_ hashes: [UInt64], upTo last: ServerID, in table: String, using local: any LocalTransaction) throws {
        if tokens == 0 {
            try local.setSyncToken(SyncToken(digest: digest, time: start.text), of: Self.pullKey, in: table)
            if history != ServerHistory() { try history.write(of: Self.pullKey, in: table, local: local) }
        }
        if let newest {
            try local.setSyncToken(SyncToken(digest: digest, time: newest.text), of: Self.newestKey, in: table)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 * hashes.count)
        for hash in hashes { withUnsafeBytes(of: hash.littleEndian) { bytes += $0 } }
        try local.setSyncToken(
            SyncToken(digest: bytes, time: last.rawValue), of: Self.pageKey(tokens), in: table)
    }

    /// Removes a table's progress, if there is any.
    static func remove(in table: String, local: any LocalTransaction) throws {
        guard try local.syncToken(of: pullKey, in: table) != nil else { return }
        for key in [pullKey, newestKey] { try local.setSyncToken(nil, of: key, in: table) }
        try ServerHistory.remove(of: pullKey, in: table, local: local)
        var index = 0
        while try local.syncToken(of: pageKey(index), in: table) != nil {
            try local.setSyncToken(nil, of: pageKey(index), in: table)
            index += 1
        }
    }

    // MARK: Reading

    /// A pull that was interrupted.
    struct Interrupted: Sendable {
        let progress: FullPullProgress
        /// The last item that was stored.
        let last: ServerID
        /// The hashes of the IDs of all items that were fetched.
        let seen: Set<UInt64>
    }

    /// The result of reading a table's progress.
    enum Stored: Sendable {
        case absent
        /// The progress has another filter, is too old, belongs to another history of the server, or can't be read.
        case unusable
        case interrupted(Interrupted)
    }

    /// Reads a table's progress.
    ///
    /// - Parameters:
    ///   - digest: The digest of the filter to pull.
    ///   - now: The local time.
    static func read(
        in table: String, of digest: [UInt8], at now: Date, local: any LocalReadTransaction
    ) throws -> Stored {
        guard let head = try local.syncToken(of: pullKey, in: table) else { return .absent }
        let history = try ServerHistory.read(of: pullKey, in: table, local: local)
        guard head.digest == digest, let start = head.time.flatMap({ WireTimestamp($0) }),
            abs(now.timeIntervalSince(start.date)) <= longestAge,
            try history.restarts == ServerHistory.restarts(in: table, local: local)
        else { return .unusable }
        var (progress, seen) = (FullPullProgress(digest: digest, start: start, history: history), Set<UInt64>())
        progress.newest = try local.syncToken(of: newestKey, in: table)?.time.flatMap { WireTimestamp($0) }
        var last: ServerID?
        while let token = try local.syncToken(of: pageKey(progress.tokens), in: table) {
            guard let id = token.time, token.digest.count.isMultiple(of: 8) else { return .unusable }
            token.digest.withUnsafeBytes { bytes in
                for offset in stride(from: 0, to: bytes.count, by: 8) {
                    seen.insert(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
                }
            }
            last = ServerID(id)
            progress.tokens += 1
        }
        guard let last else { return .unusable }
        return .interrupted(Interrupted(progress: progress, last: last, seen: seen))
    }
}
