import Foundation

/// The commits in the write-ahead log between two positions, read from the headers of its frames.
enum LogCommits {
    /// The size of the log's header.
    private static let headerSize = 32
    /// The size of the header that precedes each page.
    private static let frameHeaderSize = 24
    /// The maximum number of frames that are read. If there are more, it is cheaper to read the live queries again.
    private static let limit: UInt32 = 4_096

    /// Returns the last frames of all commits after a position, up to another one.
    ///
    /// - Parameters:
    ///   - start: The end of a commit.
    ///   - end: The end of a later commit.
    ///   - descriptor: A descriptor of the log file.
    /// - Returns: `nil` if they are unknown, because the log has begun again or too many frames follow.
    static func ends(after start: LogPosition, upTo end: LogPosition, in descriptor: Int32) -> [UInt32]? {
        guard start.isUpTo(end), start.pageSize == end.pageSize, end.frame - start.frame <= limit else { return nil }
        guard start.frame < end.frame else { return [] }
        var ends: [UInt32] = []
        for frame in start.frame + 1...end.frame {
            let place = headerSize + Int(frame - 1) * (frameHeaderSize + end.pageSize)
            // A header: the page's number, the database's size after a commit or 0, the salts, and a checksum.
            var header: (UInt32, UInt32, UInt64, UInt64) = (0, 0, 0, 0)
            let count = withUnsafeMutableBytes(of: &header) {
                pread(descriptor, $0.baseAddress, $0.count, off_t(place))
            }
            // Other salts mean that the log has begun again since its index was read.
            guard count == frameHeaderSize, header.2 == end.salts else { return nil }
            if header.1 != 0 { ends.append(frame) }
        }
        return ends.last == end.frame ? ends : nil
    }
}
