import Foundation
import Synchronization
import Tandem
import TandemSync

extension RemoteFilesConformance {
    static let carryingLaws: [Law] = [
        Law("a file comes back as it was sent") { files in
            for count in [0, 1, 70_000, (2 << 20) + 1] {
                let file = someFile(count)
                let uploaded = try await files.upload(file)
                let taken = TakenPieces()
                let remote = RemoteFile(url: uploaded.url, etag: uploaded.etag, size: file.size)
                let served = try await files.download(remote, from: 0) { taken.take($0) }
                try expect(taken.bytes == (try await file.all()), "\(count) bytes came back as others")
                try expect(served.size == file.size, "the size is said to be \(served.size)")
                var place: Int64 = 0
                for piece in taken.all {
                    try expect(piece.offset == place, "a piece is at \(piece.offset), not at \(place)")
                    try expect(
                        (1...FilePiece.greatestSize).contains(piece.bytes.count), "a piece of \(piece.bytes.count)")
                    try expect(piece.file == served, "a piece is of another file than the answer")
                    place += Int64(piece.bytes.count)
                }
            }
        },
        Law("what is told of an upload's progress never falls, and ends with the whole") { files in
            let file = someFile(2_500_000)
            let told = Mutex<[Int64]>([])
            _ = try await files.upload(file) { sent in told.withLock { $0.append(sent) } }
            let progress = told.withLock { $0 }
            try expect(progress == progress.sorted(), "it fell: \(progress)")
            try expect(progress.last == file.size, "it ended with \(progress.last ?? -1)")
            try expect(progress.allSatisfy { (0...file.size).contains($0) }, "it was outside of the file: \(progress)")
        },
        Law("what an upload says beforehand of its file's place is so, and it ends if nobody wants the file there") {
            files in
            struct Unwanted: Error {}
            for count in [10, 1_500_000] {
                let said = Mutex<[String]>([])
                var file = someFile(count)
                file.onPlace = { url in said.withLock { $0.append(url) } }
                let uploaded = try await files.upload(file)
                for url in said.withLock({ $0 }) { try expect(url == uploaded.url, "\(url) became \(uploaded.url)") }
                // Who knows no place beforehand has nothing to be stopped by.
                guard !said.withLock({ $0.isEmpty }) else { continue }
                var other = someFile(count)
                let place = Mutex("")
                other.onPlace = { url in
                    place.withLock { $0 = url }
                    throw Unwanted()
                }
                let unwanted = other
                let failure = try await failing("an upload that nobody wants") { _ = try await files.upload(unwanted) }
                let isNotSent = if case .notSent = failure { true } else { false }
                try expect(isNotSent, "it failed so: \(failure)")
                let url = place.withLock { $0 }
                let missing = try await failing("the download of a file that nobody wanted") {
                    _ = try await files.fetched(UploadedFile(url: url, etag: nil))
                }
                let isMissing =
                    switch missing {
                    case .notFound, .gone: true
                    default: false
                    }
                try expect(isMissing, "it failed so: \(missing)")
            }
        },
        Law("a file that is there is taken again, with the same answer") { files in
            for count in [10, 1_500_000] {
                let file = someFile(count)
                let first = try await files.upload(file)
                try expect(!first.wasThere, "it is said to have been there before")
                var second = try await files.upload(file)
                second.wasThere = first.wasThere
                try expect(first == second, "\(first), then \(second)")
                try expect(try await files.fetched(first) == (try await file.all()), "the bytes are others")
            }
        },
        Law("a download goes on from an offset") { files in
            let file = someFile(300_000)
            let uploaded = try await files.upload(file)
            let bytes = try await file.all()
            for offset in [1, 65_536, 299_999] {
                let taken = TakenPieces()
                let remote = RemoteFile(url: uploaded.url, etag: uploaded.etag, size: file.size)
                let served = try await files.download(remote, from: Int64(offset)) { taken.take($0) }
                try expect(taken.bytes == Array(bytes[offset...]), "other bytes from \(offset) on")
                try expect(taken.all.first?.offset == Int64(offset), "they are said to be elsewhere")
                try expect(served.size == file.size, "the size is said to be \(served.size)")
            }
        },
        Law("names with line ends, quotes, three hundred bytes or none do no harm") { files in
            let names = [
                "чек\r\nX-Evil: 1", "a\"b';%00\u{0}", String(repeating: "ж", count: 150), "", "../../etc/passwd",
            ]
            for name in names {
                let file = someFile(100, name: name)
                let uploaded = try await files.upload(file)
                try expect(try await files.fetched(uploaded) == (try await file.all()), "\(name.debugDescription)")
            }
        },
        Law("many files are sent and fetched at once") { files in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let file = someFile(number * 60_000)
                        let uploaded = try await files.upload(file)
                        try expect(try await files.fetched(uploaded) == (try await file.all()), "file \(number)")
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    static let failingLaws: [Law] = [
        Law("a file that is deleted is not found") { files in
            let uploaded = try await files.upload(someFile(1000))
            try await files.delete(RemoteFile(url: uploaded.url, etag: uploaded.etag))
            switch try await failing("a download of nothing", { _ = try await files.fetched(uploaded) }) {
            case .notFound, .gone: break
            case let failure: try expect(false, "it is said to be: \(failure)")
            }
            // Some servers take it for done, which it is.
            do throws(RemoteFailure) {
                try await files.delete(RemoteFile(url: uploaded.url, etag: uploaded.etag))
            } catch {
                switch error {
                case .notFound, .gone: break
                default: try expect(false, "a second delete failed so: \(error)")
                }
            }
        },
        Law("a file that is another one by now is not taken for the one that was meant") { files in
            let uploaded = try await files.upload(someFile(1000))
            guard uploaded.etag != nil else { return }
            let other = UploadedFile(url: uploaded.url, etag: "other")
            let failure = try await failing("a download of another file") { _ = try await files.fetched(other) }
            guard case .file(.changed) = failure else { return try expect(false, "it failed so: \(failure)") }
            let taken = TakenPieces()
            let size = RemoteFile(url: uploaded.url, etag: uploaded.etag, size: 999)
            _ = try await failing("a download of another size") {
                _ = try await files.download(size, from: 0) { taken.take($0) }
            }
            try expect(taken.all.isEmpty, "bytes of another size were handed over")
        },
        Law("bytes without the hash that was said are not kept") { files in
            for count in [1000, 1_500_000] {
                var file = someFile(count)
                let bytes = file.bytes
                file = someFile(count)
                file.bytes = bytes
                let wrong = file
                let failure = try await failing("an upload of other bytes") { _ = try await files.upload(wrong) }
                guard case .file(.hashMismatch) = failure else {
                    return try expect(false, "it failed so: \(failure)")
                }
            }
        },
        Law("bytes that can't be read end the upload, and it can be done again") { files in
            for count in [1000, 1_500_000] {
                let file = someFile(count)
                var broken = file
                broken.bytes = HalfAFile(bytes: file.bytes, end: Int64(count / 2))
                let half = broken
                let failure = try await failing("an upload of half a file") { _ = try await files.upload(half) }
                guard case .file(.unreadable(is ShortFile)) = failure else {
                    return try expect(false, "it failed so: \(failure)")
                }
                let uploaded = try await files.upload(file)
                try expect(try await files.fetched(uploaded) == (try await file.all()), "the bytes are others")
            }
        },
        Law("what can't be sent is said, and not sent") { files in
            let changes: [@Sendable (inout OutgoingFile) -> Void] = [
                { $0.id = "../../etc/passwd" }, { $0.sha256 = "no" }, { $0.size = -1 },
                { $0.contentType = "a\r\nX-Evil: 1" },
            ]
            for change in changes {
                var file = someFile(10)
                change(&file)
                let changed = file
                let failure = try await failing("an upload of no file") { _ = try await files.upload(changed) }
                guard case .unsendable = failure else { return try expect(false, "it failed so: \(failure)") }
            }
        },
    ]

    static let endingLaws: [Law] = [
        Law("what the taker throws ends the download, and it is not called again") { files in
            struct Full: Error {}
            let uploaded = try await files.upload(someFile(3_000_000))
            let calls = Mutex(0)
            let failure = try await failing("a download that nobody takes") {
                _ = try await files.download(RemoteFile(url: uploaded.url), from: 0) { _ in
                    calls.withLock { $0 += 1 }
                    throw Full()
                }
            }
            guard case .file(.notTaken(is Full)) = failure else { return try expect(false, "it failed so: \(failure)") }
            try expect(calls.withLock { $0 } == 1, "it was called \(calls.withLock { $0 }) times")
        },
        Law("a cancelled upload ends, and reads nothing any more") { files in
            let file = someFile(3_000_000)
            var hanging = file
            let bytes = HangingFile(bytes: file.bytes, from: 1_000_000)
            hanging.bytes = bytes
            let slow = hanging
            let task = Task { try await failing("a cancelled upload") { _ = try await files.upload(slow) } }
            while !bytes.isHanging { try await Task.sleep(for: .milliseconds(2)) }
            task.cancel()
            let failure = try await task.value
            try expect(failure.isCancellation, "it failed so: \(failure)")
            try expect(!bytes.isHanging, "it still reads")
            let uploaded = try await files.upload(file)
            try expect(try await files.fetched(uploaded) == (try await file.all()), "the bytes are others")
        },
        Law("a cancelled download ends, and hands nothing over any more") { files in
            let uploaded = try await files.upload(someFile(3_000_000))
            let running = Mutex(0)
            let task = Task {
                try await failing("a cancelled download") {
                    _ = try await files.download(RemoteFile(url: uploaded.url), from: 0) { _ in
                        running.withLock { $0 += 1 }
                        defer { running.withLock { $0 -= 1 } }
                        try await Task.sleep(for: .seconds(3600))
                    }
                }
            }
            while running.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(2)) }
            task.cancel()
            let failure = try await task.value
            try expect(failure.isCancellation, "it failed so: \(failure)")
            try expect(running.withLock { $0 } == 0, "it still hands over")
        },
        Law("a task that is cancelled already sends nothing") { files in
            let file = someFile(1000)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await failing("an upload of a cancelled task") { _ = try await files.upload(file) }
            }
            let failure = try await task.value
            guard case .notSent(is CancellationError) = failure else {
                return try expect(false, "it failed so: \(failure)")
            }
        },
    ]
}

/// A file that ends before its size does.
private struct HalfAFile: FileBytes {
    let bytes: any FileBytes
    let end: Int64

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try await bytes.read(at: offset, count: Int(max(0, min(Int64(count), end - offset))))
    }
}

/// A file that can't be read from a place on, until the task that reads is cancelled.
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
