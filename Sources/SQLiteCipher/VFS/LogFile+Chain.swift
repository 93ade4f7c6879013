import Foundation
import GRDBSQLite

/// The chain of checksums on disk, computed over ciphertext.
extension LogFile {
    struct ReadFailure: Error {
        let code: Int32
    }

    func readRaw(_ target: UnsafeMutableRawPointer, count: Int, at offset: Int64) throws {
        let code = base.read(target, count: count, at: offset)
        guard code == SQLITE_OK else { throw ReadFailure(code: code) }
    }

    func readHeader(_ frame: Int) throws -> FrameHeader {
        try withUnsafeTemporaryAllocation(byteCount: Self.frameHeaderSize, alignment: 8) { memory in
            guard let start = memory.baseAddress else { throw ReadFailure(code: SQLITE_NOMEM) }
            try readRaw(start, count: Self.frameHeaderSize, at: offset(frame))
            return FrameHeader(start)
        }
    }

    private func eightBytes(at offset: Int64) throws -> UInt64 {
        var bytes: UInt64 = 0
        try withUnsafeMutableBytes(of: &bytes) {
            guard let start = $0.baseAddress else { throw ReadFailure(code: SQLITE_NOMEM) }
            try readRaw(start, count: 8, at: offset)
        }
        return bytes
    }

    private func checksum(at offset: Int64) throws -> FrameChecksum {
        try withUnsafeBytes(of: eightBytes(at: offset)) { bytes in
            guard let start = bytes.baseAddress else { throw ReadFailure(code: SQLITE_NOMEM) }
            return FrameChecksum(stored: start)
        }
    }

    /// Returns whether the log's checksums use the other byte order. The last bit of the log's first word states it.
    func isSwapped() throws -> Bool {
        if let known = self.swapped { return known }
        let word = try withUnsafeBytes(of: eightBytes(at: 0)) { UInt32(bigEndian: $0.load(as: UInt32.self)) }
        let isBigEndianHere = 1.bigEndian == 1
        let swapped = (word & 1 == 1) != isBigEndianHere
        self.swapped = swapped
        return swapped
    }

    /// Returns the checksum on disk before a frame: the previous frame's, or the log header's.
    func checksum(before frame: Int, written: (frame: Int, checksum: FrameChecksum)?) throws -> FrameChecksum {
        if frame == 1 { return try checksum(at: 24) }
        if let written, written.frame == frame - 1 { return written.checksum }
        return try checksum(at: offset(frame - 1) + 16)
    }
}
