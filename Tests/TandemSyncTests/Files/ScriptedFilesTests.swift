import Foundation
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// The faults of the scripted file server.
@Suite(.ownThreads) struct ScriptedFilesTests {
    @Test func `an interrupted upload continues`() async throws {
        let files = ScriptedFiles()
        let photo = Sample.file(200_000)
        files.next(.cut(after: 1000), on: .upload)
        #expect(await failure { try await files.upload(photo) } == "lost: Broken")
        #expect(files.offset(of: photo.id) == 1000)
        _ = try await files.upload(photo)
        #expect(files.requests.map(\.sent) == [1000, photo.size - 1000])
        #expect(files.files.map(\.bytes) == [Sample.bytes(200_000)])
    }

    @Test func `each fault applies to one request`() async throws {
        let files = ScriptedFiles()
        let photo = Sample.file(200_000)
        files.next(.loseRequest)
        files.next(.fail(.later(status: 503, retryAfter: nil)), on: .upload)
        files.next(.wrongHash, on: .id(photo.id))
        files.next(.loseResponse, on: .upload)
        #expect(await failure { try await files.upload(photo) } == "lost: Broken")
        #expect(await failure { try await files.upload(photo) } == "later 503")
        #expect(files.requests.map(\.sent) == [0, 0])
        #expect(await failure { try await files.upload(photo) }.contains("hash"))
        #expect(files.offset(of: photo.id) == nil)
        #expect(await failure { try await files.upload(photo) } == "lost: Broken")
        #expect(files.files.count == 1)
        let uploaded = try await files.upload(photo)
        let remote = RemoteFile(url: uploaded.url, etag: uploaded.etag)
        files.next(.cut(after: 70_000), on: .download)
        let basket = Basket()
        #expect(await failure { try await files.download(remote, from: 0) { basket.take($0) } } == "lost: Broken")
        #expect(basket.bytes == Array(Sample.bytes(200_000)[..<70_000]))
        files.next(.wrongHash, on: .download)
        #expect(try await files.fetch(remote) != Sample.bytes(200_000))
        files.next(.loseResponse, on: .delete)
        #expect(await failure { try await files.delete(remote) } == "lost: Broken")
        #expect(await failure { try await files.delete(remote) } == "not found")
        #expect(files.requests.count == 9)
    }

    @Test func `another client can change a file`() async throws {
        let files = ScriptedFiles(limit: 300_000)
        let uploaded = try await files.upload(Sample.file(1000))
        files.put([1, 2, 3], at: Sample.id)
        let old = RemoteFile(url: uploaded.url, etag: uploaded.etag)
        #expect(await failure { try await files.fetch(old) } == "changed")
        #expect(await failure { try await files.delete(old) } == "changed")
        #expect(await failure { try await files.upload(Sample.file(1000)) }.contains("another file"))
        #expect(try await files.fetch(RemoteFile(url: uploaded.url)) == [1, 2, 3])
        files.put(nil, at: Sample.id)
        #expect(await failure { try await files.fetch(old) } == "not found")
        #expect(await failure { try await files.upload(Sample.file(300_001)) }.contains("larger"))
    }

    @Test func `of two concurrent uploads the later one stores the file`() async throws {
        let files = ScriptedFiles()
        let photo = Sample.file(200_000)
        let uploaded = Synchronized<[UploadedFile]>([])
        struct Meanwhile: FileBytes {
            let bytes: any FileBytes
            let body: @Sendable () async throws -> Void
            func read(at offset: Int64, count: Int) async throws -> [UInt8] {
                if offset > 0 { try await body() }
                return try await bytes.read(at: offset, count: count)
            }
        }
        var slow = photo
        slow.bytes = Meanwhile(bytes: photo.bytes) {
            if uploaded.value.isEmpty {
                let second = try await files.upload(photo)
                uploaded.change { $0.append(second) }
            }
        }
        let first = slow
        #expect(await failure { try await files.upload(first) } == "later 409")
        #expect(files.files.map(\.bytes) == [Sample.bytes(200_000)])
    }
}
