import Foundation
import Tandem
import TandemTestScript

/// Adds a large file, reads it in pieces, exports it, verifies it, and prints how much memory that took.
struct LargeFile {
    let path: String
    let mebibytes: Int

    private var source: String { path + "-source" }
    private var size: Int { mebibytes << 20 }

    func run() throws {
        try makeSource()
        let store = try Peer.open(path, models: [PeerFile.self])
        // All code that is used runs once, with a small file, before memory is measured.
        _ = try goThrough(store, try store.attachments.add(Data(repeating: 1, count: 3 << 20), name: "small"))
        let before = try Self.peak()
        let file = try store.attachments.add(contentsOf: source)
        PeerMain.say("taken \(file.size ?? 0)")
        let read = try goThrough(store, file)
        PeerMain.say("read \(read.count) marks \(read.marks)")
        PeerMain.say("peak \(try Self.peak() - before)")
        store.close()
    }

    /// Bytes that cost no room on the disk, with a mark in each mebibyte.
    private func makeSource() throws {
        try Data().write(to: URL(fileURLWithPath: source))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: source))
        try file.truncate(atOffset: UInt64(size))
        for number in 0..<mebibytes {
            try file.seek(toOffset: UInt64(number << 20 | 12_345))
            try file.write(contentsOf: Data([UInt8(number % 255) + 1]))
        }
        try file.close()
    }

    private func goThrough(_ store: Store, _ file: Attachment) throws -> (count: Int, marks: Int) {
        try store.write { _ = try $0.insert(PeerFile(note: "large", file: file)) }
        let read = try count(store.attachments.stream(of: file))
        try store.attachments.export(file, to: path + "-copy")
        try FileManager.default.removeItem(atPath: path + "-copy")
        try store.attachments.verify(file)
        return read
    }

    /// Reads the stream to its end. `main` is not asynchronous, and waits.
    private func count(_ bytes: AttachmentBytes) throws -> (count: Int, marks: Int) {
        final class Outcome: @unchecked Sendable {
            // Written before the semaphore is signalled, read after.
            var result: Result<(count: Int, marks: Int), any Error> = .success((0, 0))
        }
        let (outcome, over) = (Outcome(), DispatchSemaphore(value: 0))
        Task.detached {
            do {
                var read = (count: 0, marks: 0)
                for try await piece in bytes {
                    read.count += piece.count
                    read.marks += piece.withUnsafeBytes(Self.marks)
                }
                outcome.result = .success(read)
            } catch {
                outcome.result = .failure(error)
            }
            over.signal()
        }
        over.wait()
        return try outcome.result.get()
    }

    /// Returns the number of bytes that are not 0. A closure for each byte would take most of the test's time.
    private static func marks(_ bytes: UnsafeRawBufferPointer) -> Int {
        let zeros = [UInt8](repeating: 0, count: 4096)
        return stride(from: 0, to: bytes.count, by: zeros.count).reduce(0) { sum, start in
            let block = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + zeros.count, bytes.count)])
            let isZero = zeros.withUnsafeBytes { memcmp(block.baseAddress!, $0.baseAddress!, block.count) == 0 }
            return isZero ? sum : sum + block.count { $0 != 0 }
        }
    }

    /// The most memory that the process has had, in bytes.
    private static func peak() throws -> Int {
        #if os(Linux)
            // NB: `getrusage` counts in what the process had that started this one.
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            guard let kibibytes = line.flatMap({ Int($0.split(whereSeparator: \.isWhitespace)[1]) }) else {
                throw CocoaError(.fileReadUnknown)
            }
            return kibibytes << 10
        #else
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #endif
    }
}
