import Foundation
import Tandem
import TandemServerCore
import TestSupport
import Testing

/// The responses of a file server, by the article "The file protocol".
@Suite(.ownThreads) struct FileEndpointTests {
    private static let id = FileFixture.id

    @Test(arguments: StorageKind.allCases, [0, 1, 999, 1000, 1001, 300_000])
    func `a downloaded file equals the uploaded one`(kind: StorageKind, count: Int) async throws {
        let server = try FileFixture(kind)
        let bytes = FileFixture.bytes(count)
        let put = try #require(
            try await server.put(Self.id, bytes, ["Content-Type": "image/jpeg"]))
        #expect(put.status == 201)
        #expect(put["Location"] == "/files/\(Self.id)")
        let etag = try #require(put["ETag"])
        for method in ["HEAD", "GET"] {
            let response = try #require(try await server.ask(.init(method)!, "/files/\(Self.id)"))
            #expect(response.status == 200)
            #expect(response["ETag"] == etag)
            #expect(response["Content-Length"] == "\(count)")
            #expect(response["Repr-Digest"] == FileFixture.digest(bytes))
            #expect(response["Content-Type"] == "image/jpeg")
            #expect(response.body == (method == "GET" ? bytes : []))
        }
        #expect(try server.storage.files().map(\.size) == [Int64(count)])
    }

    @Test(arguments: StorageKind.allCases) func `an interrupted upload is kept and continued`(
        kind: StorageKind
    ) async throws {
        let server = try FileFixture(kind)
        let bytes = FileFixture.bytes(10_000)
        #expect(try await server.put(Self.id, bytes, ending: 4500) == nil)
        let head = try #require(try await server.ask(.head, "/files/\(Self.id)"))
        #expect(head.status == 204)
        #expect(head["Upload-Offset"] == "4500")
        #expect(head["Upload-Length"] == "10000")
        #expect(head["Repr-Digest"] == FileFixture.digest(bytes))
        #expect(try await server.ask(.get, "/files/\(Self.id)")?.status == 404)
        #expect(try await server.put(Self.id, 4500..<7000, of: bytes)?.status == 204)
        #expect(try await server.put(Self.id, 7000..<10_000, of: bytes)?.status == 201)
        #expect(try await server.ask(.get, "/files/\(Self.id)")?.body == bytes)
    }

    @Test(arguments: StorageKind.allCases) func `a part at a wrong offset gets the right one`(
        kind: StorageKind
    ) async throws {
        let server = try FileFixture(kind)
        let bytes = FileFixture.bytes(5000)
        #expect(try await server.put(Self.id, 100..<5000, of: bytes)?["Upload-Offset"] == "0")
        #expect(try await server.put(Self.id, 0..<2000, of: bytes)?.status == 204)
        for range in [0..<5000, 1000..<3000, 2001..<5000] {
            let response = try #require(try await server.put(Self.id, range, of: bytes))
            #expect(response.status == 409)
            #expect(response["Upload-Offset"] == "2000")
        }
        #expect(try await server.put(Self.id, 2000..<5000, of: bytes)?.status == 201)
    }

    @Test(arguments: StorageKind.allCases) func `bytes with a wrong hash are dropped`(kind: StorageKind) async throws {
        let server = try FileFixture(kind)
        let bytes = FileFixture.bytes(5000)
        let wrong = ["Repr-Digest": FileFixture.digest(FileFixture.bytes(5000, seed: 2))]
        let response = try #require(try await server.put(Self.id, bytes, wrong))
        #expect(response.status == 422)
        #expect(String(decoding: response.body, as: UTF8.self).contains("Repr-Digest"))
        #expect(try await server.ask(.head, "/files/\(Self.id)")?.status == 404)
        #expect(try await server.put(Self.id, bytes)?.status == 201)
    }

    @Test(arguments: StorageKind.allCases) func `a repeated upload succeeds and another file is refused`(
        kind: StorageKind
    ) async throws {
        let server = try FileFixture(kind)
        let bytes = FileFixture.bytes(5000)
        let first = try #require(try await server.put(Self.id, bytes))
        let again = try #require(try await server.put(Self.id, bytes))
        #expect(again.status == 200)
        #expect(again["ETag"] == first["ETag"])
        #expect(try await server.put(Self.id, 4000..<5000, of: bytes)?.status == 200)
        #expect(try await server.put(Self.id, FileFixture.bytes(5000, seed: 2))?.status == 412)
        #expect(try await server.ask(.get, "/files/\(Self.id)")?.body == bytes)
    }

    @Test func `a partial upload of another file is dropped`() async throws {
        let server = try FileFixture(.folder)
        let (old, new) = (FileFixture.bytes(5000), FileFixture.bytes(6000, seed: 2))
        #expect(try await server.put(Self.id, old, ending: 3000) == nil)
        #expect(try await server.put(Self.id, 3000..<6000, of: new)?["Upload-Offset"] == "0")
        #expect(try await server.put(Self.id, 0..<6000, of: new)?.status == 201)
        #expect(try await server.ask(.get, "/files/\(Self.id)")?.body == new)
    }

    @Test(arguments: [
        ("bytes=0-", 206, 0..<1000), ("bytes=999-", 206, 999..<1000), ("bytes=10-19", 206, 10..<20),
        ("bytes=10-5000", 206, 10..<1000), ("bytes=-10", 206, 990..<1000), ("bytes=-5000", 206, 0..<1000),
        ("bytes=1000-", 416, 0..<0), ("bytes=-0", 416, 0..<0), ("bytes=5-4", 200, 0..<1000),
        ("bytes=0-1,5-6", 200, 0..<1000), ("lines=0-1", 200, 0..<1000), ("bytes=x-", 200, 0..<1000),
        ("bytes=99999999999999999999-", 200, 0..<1000), ("bytes=0-999999999999999999", 206, 0..<1000),
    ])
    func `a range is served`(text: String, status: Int, range: Range<Int>) async throws {
        let server = try FileFixture(.memory)
        let bytes = FileFixture.bytes(1000)
        _ = try await server.put(Self.id, bytes)
        let response = try #require(try await server.ask(.get, "/files/\(Self.id)", ["Range": text]))
        #expect(response.status == status)
        #expect(response.body == Array(bytes[range]))
        switch status {
        case 206: #expect(response["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/1000")
        case 416: #expect(response["Content-Range"] == "bytes */1000")
        default: #expect(response["Content-Range"] == nil)
        }
    }

    @Test func `preconditions are compared with the ETag`() async throws {
        let server = try FileFixture(.memory)
        let bytes = FileFixture.bytes(1000)
        let etag = try #require(try await server.put(Self.id, bytes)?["ETag"])
        let path = "/files/\(Self.id)"
        #expect(try await server.ask(.get, path, ["If-Match": "\"x\",\t \(etag) \t"])?.status == 200)
        #expect(try await server.ask(.get, path, ["If-Match": "\"x\""])?.status == 412)
        // A weak tag is not valid in If-Match.
        #expect(try await server.ask(.get, path, ["If-Match": "W/\(etag)"])?.status == 412)
        #expect(try await server.ask(.get, path, ["If-None-Match": etag])?.status == 304)
        let changed = ["Range": "bytes=5-", "If-Range": "\"x\""]
        #expect(try await server.ask(.get, path, changed)?.status == 200)
        #expect(try await server.ask(.get, path, ["Range": "bytes=5-", "If-Range": etag])?.status == 206)
        #expect(try await server.put(Self.id, bytes, ["If-Match": etag])?.status == 200)
        #expect(try await server.put(Self.id, bytes, ["If-Match": "\"x\""])?.status == 412)
        #expect(try await server.put(FileFixture.other, bytes, ["If-Match": etag])?.status == 412)
        #expect(try server.storage.files().count == 1)
        #expect(try await server.ask(.delete, path, ["If-Match": "\"x\""])?.status == 412)
        #expect(try await server.ask(.delete, path, ["If-Match": etag])?.status == 204)
        #expect(try await server.ask(.delete, path, ["If-Match": etag])?.status == 404)
        #expect(try server.storage.files().isEmpty)
    }

    @Test(arguments: [
        "../../etc/passwd", "..", "00112233445566778899aabbccddeef", "00112233445566778899AABBCCDDEEFF",
        "00112233445566778899aabbccddeeff0", "%2e%2e%2f00112233445566778899aabbccdd", "файл",
        "00112233445566778899aabbccddeeff/x", "00112233445566778899aabbccddeef%00",
    ])
    func `an invalid ID finds nothing and creates nothing`(id: String) async throws {
        let server = try FileFixture(.folder)
        #expect(try await server.put(id, [1, 2, 3])?.status == 404)
        for method in ["GET", "HEAD", "DELETE"] {
            #expect(try await server.ask(.init(method)!, "/files/\(id)")?.status == 404)
        }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: server.folder.path(of: "storage")).isEmpty)
    }

    @Test func `an incomplete request gets an explanation`() async throws {
        let server = try FileFixture(.memory) { $0.files?.limit = 100 }
        let digest = FileFixture.digest([1, 2, 3])
        let whole = ["Repr-Digest": digest, "If-None-Match": "*"]
        func status(_ fields: [String: String], _ body: [UInt8] = [1, 2, 3]) async throws -> Int? {
            try await server.ask(.put, "/files/\(Self.id)", fields, body)?.status
        }
        #expect(try await status(["If-None-Match": "*"]) == 400)
        #expect(try await status(["If-None-Match": "*", "Repr-Digest": "sha-256=:AAAA:"]) == 400)
        #expect(try await status(["Repr-Digest": digest]) == 428)
        #expect(try await status(whole.merging(["Content-Encoding": "gzip"]) { $1 }) == 415)
        #expect(try await status(whole.merging(["Transfer-Encoding": "chunked"]) { $1 }) == 411)
        #expect(try await status(whole.merging(["Content-Length": "-3"]) { $1 }) == 411)
        #expect(try await status(whole.merging(["Content-Range": "bytes 0-1/3"]) { $1 }) == 400)
        #expect(try await status(whole.merging(["Content-Range": "bytes 0-2/2"]) { $1 }) == 400)
        #expect(try await status(whole.merging(["Content-Range": "bytes 0-2/*"]) { $1 }) == 400)
        #expect(try await status(whole.merging(["Content-Range": "bytes 0-2/101"]) { $1 }) == 413)
        #expect(try await status(whole, [UInt8](repeating: 1, count: 101)) == 413)
        #expect(try await server.ask(.post, "/files/\(Self.id)")?["Allow"] == "HEAD, GET, PUT, DELETE")
        #expect(try server.storage.files().isEmpty)
        #expect(try server.storage.offset(of: Self.id) == nil)
        #expect(try await status(whole) == 201)
    }

    @Test func `no files are served without a storage`() async throws {
        let server = try FileFixture(.memory) { $0.files = nil }
        #expect(try await server.put(Self.id, [1])?.status == 404)
    }
}
