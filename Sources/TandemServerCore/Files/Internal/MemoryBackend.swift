import Foundation
import Synchronization

/// A file storage in memory.
final class MemoryBackend: FileStorageBackend {
    private struct State {
        var records: [String: FileRecord] = [:]
        var contents: [String: MemoryContent] = [:]
    }

    private let state = Mutex(State())

    func record(_ id: String) -> FileRecord? { state.withLock { $0.records[id] } }

    func save(_ record: FileRecord) { state.withLock { $0.records[record.file.id] = record } }

    func remove(_ id: String) {
        state.withLock { state in
            state.records[id] = nil
            state.contents[id] = nil
        }
    }

    func create(_ id: String) -> any FileStorageContent {
        let content = MemoryContent()
        state.withLock { $0.contents[id] = content }
        return content
    }

    func open(_ id: String) -> (any FileStorageContent)? { state.withLock { $0.contents[id] } }

    func ids() -> [String] { state.withLock { Array($0.records.keys) } }

    func beginnings(forgetting limit: Date) -> [String: Date] { [:] }
}

private final class MemoryContent: FileStorageContent {
    private let bytes = Mutex<[UInt8]>([])

    func size() -> Int64 { bytes.withLock { Int64($0.count) } }

    func read(at offset: Int64, count: Int) -> [UInt8] {
        bytes.withLock { bytes in
            guard offset >= 0, offset < bytes.count, count > 0 else { return [] }
            return Array(bytes[Int(offset)..<min(bytes.count, Int(offset) + count)])
        }
    }

    func write(_ new: [UInt8], at offset: Int64) {
        bytes.withLock { bytes in
            if offset < bytes.count { bytes.removeSubrange(Int(offset)...) }
            bytes += new
        }
    }

    func flush() {}
}
