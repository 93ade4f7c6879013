import Foundation
import Synchronization
import Tandem
import TandemSync

extension RemoteFilesConformance {
    static let carryingRequirements: [Requirement] = [
        Requirement("a downloaded file equals the uploaded one") { files in
            for count in [0, 1, 70_000, (2 << 20) + 1] {
                let file = someFile(count)
                let uploaded = try await files.upload(file)
                let received = ReceivedPieces()
                let remote = RemoteFile(url: uploaded.url, etag: uploaded.etag, size: file.size)
                let served = try await files.download(remote, from: 0) { received.append($0) }
                try expect(received.bytes == (try await file.all()), or: "\(count) bytes came back changed")
                try expect(served.size == file.size, or: "the stated size is \(served.size)")
                var place: Int64 = 0
                for piece in received.all {
                    try expect(piece.offset == place, or: "a piece is at \(piece.offset), not at \(place)")
                    try expect(
                        (1...FilePiece.greatestSize).contains(piece.bytes.count), or: "a piece of \(piece.bytes.count)")
                    try expect(piece.file == served, or: "a piece and the result describe different files")
                    place += Int64(piece.bytes.count)
                }
            }
        },
        Requirement("an upload's progress never decreases and ends with the file's size") { files in
            let file = someFile(2_500_000)
            let reported = Mutex<[Int64]>([])
            _ = try await files.upload(file) { sent in reported.withLock { $0.append(sent) } }
            let progress = reported.withLock { $0 }
            try expect(progress == progress.sorted(), or: "it fell: \(progress)")
            try expect(progress.last == file.size, or: "it ended with \(progress.last ?? -1)")
            try expect(
                progress.allSatisfy { (0...file.size).contains($0) }, or: "it was outside of the file: \(progress)")
        },
        Requirement("an upload announces the file's real URL and stops if that is refused") {
            files in
            struct Unwanted: Error {}
            for count in [10, 1_500_000] {
                let said = Mutex<[String]>([])
                var file = someFile(count)
                file.onPlace = { url in said.withLock { $0.append(url) } }
                let uploaded = try await files.upload(file)
                for url in said.withLock({ $0 }) {
                    try expect(url == uploaded.url, or: "\(url) became \(uploaded.url)")
                }
                // Implementations that do not know the URL beforehand can't be stopped.
                guard !said.withLock({ $0.isEmpty }) else { continue }
                var other = someFile(count)
                let place = Mutex("")
                other.onPlace = { url in
                    place.withLock { $0 = url }
                    throw Unwanted()
                }
                let unwanted = other
                let failure = try await failing("an upload with a refused URL") { _ = try await files.upload(unwanted) }
                let isNotSent = if case .notSent = failure { true } else { false }
                try expect(isNotSent, or: "it failed with \(failure)")
                let url = place.withLock { $0 }
                let missing = try await failing("the download of a refused file") {
                    _ = try await files.fetched(UploadedFile(url: url, etag: nil))
                }
                let isMissing =
                    switch missing {
                    case .notFound, .gone: true
                    default: false
                    }
                try expect(isMissing, or: "it failed with \(missing)")
            }
        },
        Requirement("a second upload of a file has the same result") { files in
            for count in [10, 1_500_000] {
                let file = someFile(count)
                let first = try await files.upload(file)
                try expect(!first.wasThere, or: "it is reported as existing before")
                var second = try await files.upload(file)
                second.wasThere = first.wasThere
                try expect(first == second, or: "\(first), then \(second)")
                try expect(try await files.fetched(first) == (try await file.all()), or: "the bytes differ")
            }
        },
        Requirement("a download continues from an offset") { files in
            let file = someFile(300_000)
            let uploaded = try await files.upload(file)
            let bytes = try await file.all()
            for offset in [1, 65_536, 299_999] {
                let received = ReceivedPieces()
                let remote = RemoteFile(url: uploaded.url, etag: uploaded.etag, size: file.size)
                let served = try await files.download(remote, from: Int64(offset)) { received.append($0) }
                try expect(received.bytes == Array(bytes[offset...]), or: "the bytes from \(offset) on differ")
                try expect(received.all.first?.offset == Int64(offset), or: "they have another offset")
                try expect(served.size == file.size, or: "the stated size is \(served.size)")
            }
        },
        Requirement("names with line breaks, quotes, three hundred bytes or none are accepted") { files in
            let names = [
                "чек\r\nX-Evil: 1", "a\"b';%00\u{0}", String(repeating: "ж", count: 150), "", "../../etc/passwd",
            ]
            for name in names {
                let file = someFile(100, name: name)
                let uploaded = try await files.upload(file)
                try expect(try await files.fetched(uploaded) == (try await file.all()), or: "\(name.debugDescription)")
            }
        },
        Requirement("many files are uploaded and downloaded concurrently") { files in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let file = someFile(number * 60_000)
                        let uploaded = try await files.upload(file)
                        try expect(try await files.fetched(uploaded) == (try await file.all()), or: "file \(number)")
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    static let failingRequirements: [Requirement] = [
        Requirement("a deleted file is not found") { files in
            let uploaded = try await files.upload(someFile(1000))
            try await files.delete(RemoteFile(url: uploaded.url, etag: uploaded.etag))
            switch try await failing("a download of a deleted file", body: { _ = try await files.fetched(uploaded) }) {
            case .notFound, .gone: break
            case let failure: try expect(false, or: "it failed with \(failure)")
            }
            // Some servers report success, which is correct too.
            do throws(RemoteFailure) {
                try await files.delete(RemoteFile(url: uploaded.url, etag: uploaded.etag))
            } catch {
                switch error {
                case .notFound, .gone: break
                default: try expect(false, or: "a second delete failed with \(error)")
                }
            }
        },
        Requirement("a file with another ETag or size is refused") { files in
            let uploaded = try await files.upload(someFile(1000))
            guard uploaded.etag != nil else { throw NotApplicable("The server has no ETags.") }
            let other = UploadedFile(url: uploaded.url, etag: "other")
            let failure = try await failing("a download of another file") { _ = try await files.fetched(other) }
            guard case .file(.changed) = failure else { return try expect(false, or: "it failed with \(failure)") }
            let received = ReceivedPieces()
            let size = RemoteFile(url: uploaded.url, etag: uploaded.etag, size: 999)
            _ = try await failing("a download of another size") {
                _ = try await files.download(size, from: 0) { received.append($0) }
            }
            try expect(received.all.isEmpty, or: "bytes of a file with another size were delivered")
        },
        Requirement("an upload with a wrong hash is not stored") { files in
            for count in [1000, 1_500_000] {
                var file = someFile(count)
                let bytes = file.bytes
                file = someFile(count)
                file.bytes = bytes
                let wrong = file
                let failure = try await failing("an upload of other bytes") { _ = try await files.upload(wrong) }
                guard case .file(.hashMismatch) = failure else {
                    return try expect(false, or: "it failed with \(failure)")
                }
            }
        },
        Requirement("an upload of unreadable bytes ends and can be repeated") { files in
            for count in [1000, 1_500_000] {
                let file = someFile(count)
                var broken = file
                broken.bytes = HalfAFile(bytes: file.bytes, end: Int64(count / 2))
                let half = broken
                let failure = try await failing("an upload of half a file") { _ = try await files.upload(half) }
                guard case .file(.unreadable(is ShortFile)) = failure else {
                    return try expect(false, or: "it failed with \(failure)")
                }
                let uploaded = try await files.upload(file)
                try expect(try await files.fetched(uploaded) == (try await file.all()), or: "the bytes differ")
            }
        },
        Requirement("an invalid upload is reported and not sent") { files in
            let changes: [@Sendable (inout OutgoingFile) -> Void] = [
                { $0.id = "../../etc/passwd" }, { $0.sha256 = "no" }, { $0.size = -1 },
                { $0.contentType = "a\r\nX-Evil: 1" },
            ]
            for change in changes {
                var file = someFile(10)
                change(&file)
                let changed = file
                let failure = try await failing("an invalid upload") { _ = try await files.upload(changed) }
                guard case .notEncodable = failure else { return try expect(false, or: "it failed with \(failure)") }
            }
        },
    ]

    static let endingRequirements: [Requirement] = [
        Requirement("an error of the receiver ends the download without further calls") { files in
            struct Full: Error {}
            let uploaded = try await files.upload(someFile(3_000_000))
            let calls = Mutex(0)
            let failure = try await failing("a download with a failing receiver") {
                _ = try await files.download(RemoteFile(url: uploaded.url), from: 0) { _ in
                    calls.withLock { $0 += 1 }
                    throw Full()
                }
            }
            guard case .file(.receiverFailed(is Full)) = failure else {
                return try expect(false, or: "it failed with \(failure)")
            }
            try expect(calls.withLock { $0 } == 1, or: "it was called \(calls.withLock { $0 }) times")
        },
        Requirement("a cancelled upload ends and stops reading") { files in
            let file = someFile(3_000_000)
            var hanging = file
            let bytes = HangingFile(bytes: file.bytes, from: 1_000_000)
            hanging.bytes = bytes
            let slow = hanging
            let hasEnded = Mutex(false)
            let task = Task {
                defer { hasEnded.withLock { $0 = true } }
                return try await failing("a cancelled upload") { _ = try await files.upload(slow) }
            }
            while !bytes.isHanging, !hasEnded.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
            task.cancel()
            let failure = try await task.value
            try expect(failure.isCancellation, or: "it failed with \(failure)")
            try expect(!bytes.isHanging, or: "it still reads")
            let uploaded = try await files.upload(file)
            try expect(try await files.fetched(uploaded) == (try await file.all()), or: "the bytes differ")
        },
        Requirement("a cancelled download ends and stops delivering") { files in
            let uploaded = try await files.upload(someFile(3_000_000))
            let running = Mutex(0)
            let hasEnded = Mutex(false)
            let task = Task {
                defer { hasEnded.withLock { $0 = true } }
                return try await failing("a cancelled download") {
                    _ = try await files.download(RemoteFile(url: uploaded.url), from: 0) { _ in
                        running.withLock { $0 += 1 }
                        defer { running.withLock { $0 -= 1 } }
                        try await Task.sleep(for: .seconds(3600))
                    }
                }
            }
            // A download that fails delivers nothing.
            while running.withLock({ $0 }) == 0, !hasEnded.withLock({ $0 }) {
                try await Task.sleep(for: .milliseconds(2))
            }
            task.cancel()
            let failure = try await task.value
            try expect(failure.isCancellation, or: "it failed with \(failure)")
            try expect(running.withLock { $0 } == 0, or: "it still delivers")
        },
        Requirement("an upload in a cancelled task sends nothing") { files in
            let file = someFile(1000)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await failing("an upload of a cancelled task") { _ = try await files.upload(file) }
            }
            let failure = try await task.value
            guard case .notSent(is CancellationError) = failure else {
                return try expect(false, or: "it failed with \(failure)")
            }
        },
    ]
}

/// A file that is shorter than its stated size.
private struct HalfAFile: FileBytes {
    let bytes: any FileBytes
    let end: Int64

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try await bytes.read(at: offset, count: Int(max(0, min(Int64(count), end - offset))))
    }
}

/// A file whose reads block from an offset on, until the reading task is cancelled.
private final class HangingFile: FileBytes {
    private let bytes: any FileBytes
    private let place: Int64
    private let hanging = Mutex(0)

    init(bytes: any FileBytes, from place: Int64) {
        self.bytes = bytes
        self.place = place
    }

    var isHanging: Bool { hanging.withLock { $0 > 0 } }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        guard offset + Int64(count) > place else { return try await bytes.read(at: offset, count: count) }
        hanging.withLock { $0 += 1 }
        defer { hanging.withLock { $0 -= 1 } }
        try await Task.sleep(for: .seconds(3600))
        return []
    }
}
