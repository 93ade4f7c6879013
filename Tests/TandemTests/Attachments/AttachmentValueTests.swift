import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The value of an attachment property, its column, and the places where it is not allowed.
@Suite(.ownThreads) struct AttachmentValueTests {
    private let whole = Attachment(
        id: FileID("00c0ffee00c0ffee00c0ffee00c0ffee")!, name: "კატა\n\"\u{0}😺.jpg", contentType: "image/jpeg",
        size: 12,
        sha256: FileDigest([UInt8](0..<32)), serverURL: "https://example.org/f/1")
    private let bare = Attachment(
        id: FileID("ffffffffffffffffffffffffffffffff")!, name: "", contentType: "text/plain", size: nil, sha256: nil)

    @Test func `a value is read back from its column`() throws {
        let store = try Store.inMemory(models: Album.self)
        for value in [whole, bare] {
            #expect(Attachment(__json: value.__json) == value)
            // A server's value is accepted for a file that the store does not have.
            let album = Album(title: "Альбом", cover: value, pages: [value, value])
            let inserted = try store.applyServerObject(album, serverID: ServerID(value.id.rawValue))
            let read = try #require(try store.object(ofType: Album.self, forPrimaryKey: inserted.localID))
            #expect(read.cover == value && read.pages == [value, value])
            #expect(read == inserted)
        }
    }

    @Test func `the column is JSON whose members are in a fixed order`() throws {
        var text: [UInt8] = []
        try ExactJSON.write(whole.__json, to: &text)
        let digest = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
        #expect(
            String(decoding: text, as: UTF8.self) == """
                {"id":"00c0ffee00c0ffee00c0ffee00c0ffee","name":"კატა\\n\\"\\u0000😺.jpg",\
                "sha256":"\(digest)","size":12,"type":"image/jpeg","url":"https://example.org/f/1"}
                """)
        #expect(try text.withUnsafeBufferPointer { try ExactJSON.parse($0) } == whole.__json)
    }

    @Test(arguments: [
        #"[]"#, #"{}"#, #"{"id":5}"#, #"{"id":"../../etc/passwd"}"#,
        #"{"id":"00c0ffee00c0ffee00c0ffee00c0ffee","size":-1}"#,
        #"{"id":"00c0ffee00c0ffee00c0ffee00c0ffee","sha256":"12"}"#,
        #"{"id":"00c0ffee00c0ffee00c0ffee00c0ffee","size":"12"}"#, #""00c0ffee00c0ffee00c0ffee00c0ffee""#,
    ])
    func `a damaged column is an error`(text: String) throws {
        let node = try Array(text.utf8).withUnsafeBufferPointer { try ExactJSON.parse($0) }
        #expect(Attachment(__json: node) == nil)
    }

    @Test func `values are equal only if all their members are equal`() {
        #expect(whole == stored(whole))
        #expect(whole != stored(whole, at: "https://example.org/f/2"))
        let renamed = Attachment(
            id: whole.id, name: "cafe\u{301}", contentType: whole.contentType, size: 12, sha256: whole.sha256)
        let composed = Attachment(
            id: whole.id, name: "caf\u{e9}", contentType: whole.contentType, size: 12, sha256: whole.sha256)
        #expect(renamed != composed)
        #expect(Set([whole, stored(whole), bare]).count == 2)
    }

    @Test func `an app can encode and decode a model with attachments`() throws {
        let album = Album(title: "Альбом", cover: whole, pages: [bare])
        let decoded = try JSONDecoder().decode(Album.self, from: JSONEncoder().encode(album))
        #expect(decoded == album)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Attachment.self, from: Data(#"{"id":"x","name":"","type":""}"#.utf8))
        }
    }

    @Test func `a digest has 64 digits`() {
        let digest = FileDigest([UInt8](repeating: 0xAB, count: 32))
        #expect(digest?.hex == String(repeating: "ab", count: 32))
        #expect(FileDigest(hex: String(repeating: "AB", count: 32)) == digest)
        for text in ["", "ab", String(repeating: "g", count: 64), String(repeating: "ab", count: 32) + "a", "é"] {
            #expect(FileDigest(hex: text) == nil)
        }
        #expect(FileDigest([1, 2]) == nil)
    }

    // MARK: Places where it is not allowed

    @Model struct InSet { var all: Set<Attachment> = [] }
    @Model struct InDictionary { var all: [String: Attachment] = [:] }
    @Model struct Nested { var all: [[Attachment]] = [] }
    @Model struct NestedInDictionary { var all: [String: [Attachment]] = [:] }

    @Test(arguments: [InSet.self, InDictionary.self, Nested.self, NestedInDictionary.self] as [any Model.Type])
    func `collections other than arrays are refused`(model: any Model.Type) {
        let error = expectError(.invalidSchema) { try Store(inMemoryModels: [model]) }
        #expect(error?.property == "all")
    }

    @Test func `collections of another type named Attachment are accepted`() {
        for name in ["[Attachment]", "[Reference<Attachment>]", "[String: AttachmentNote]", "Set<MyAttachment>"] {
            #expect(!PropertyKind.collection(name).hidesAttachments)
        }
    }

    @Test func `a URL alone stands for the known file at that URL`() throws {
        let property = try #require(Album.__definition.properties.first { $0.name == "pages" })
        let url = "https://a.example/1.jpg"
        let known = ["one.jpg", "two.jpg"].map {
            Attachment(id: someFileID(), name: $0, contentType: "image/jpeg", size: 7, sha256: nil, serverURL: url)
        }
        let (named, other) = (Attachment(atServerURL: url), Attachment(atServerURL: "https://a.example/2.jpg"))
        func form(_ said: [Attachment], like here: [Attachment]) -> StorageValue {
            property.form(Migration.stored(said), like: Migration.stored(here), nil)
        }
        #expect(form([other, named], like: known) == Migration.stored([other, known[0]]))
        // Two files may have the same URL if the server stores files by content.
        #expect(form([named, named], like: known) == Migration.stored(known))
        #expect(form([named, named], like: [known[1]]) == Migration.stored([known[1], named]))
        // A value with more than the URL stays unchanged.
        #expect(form([known[1]], like: [known[0]]) == Migration.stored([known[1]]))
        #expect(form([named], like: []) == Migration.stored([named]))

        let cover = try #require(Album.__definition.properties.first { $0.name == "cover" })
        #expect(
            cover.form(Migration.stored(named), like: .null, Migration.stored(known[1])) == Migration.stored(known[1]))
        #expect(cover.form(.null, like: Migration.stored(known[0])) == .null)
    }

    struct Wrapped: Codable, Hashable, Sendable { var inner: Attachment? }
    @Model struct Hiding { var wrapped: Wrapped = Wrapped() }

    @Test func `an attachment inside a Codable value is refused when it is written and read`() throws {
        let store = try Store.inMemory(models: Hiding.self)
        let kept = try store.write { try $0.insert(Hiding()) }
        let error = expectError(.invalidValue) {
            try store.write { try $0.insert(Hiding(wrapped: Wrapped(inner: whole))) }
        }
        #expect(error?.description.contains("inside another value") == true)
        try store.writer.queue.unsafeReentrantWrite { _ in
            try store.writer.connection.execute(
                #"""
                UPDATE Hiding SET wrapped = \#
                '{"inner":{"id":"00c0ffee00c0ffee00c0ffee00c0ffee","name":"","type":""}}'
                """#
            )
        }
        expectError(.invalidValue) { try store.object(ofType: Hiding.self, forPrimaryKey: kept.localID) }
    }
}
