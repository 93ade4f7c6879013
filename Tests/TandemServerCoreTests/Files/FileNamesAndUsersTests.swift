import Foundation
import Tandem
import TandemServerCore
import TestSupport
import Testing

/// The names of files, and the users with access to them.
@Suite(.ownThreads) struct FileNamesAndUsersTests {
    private static let id = FileFixture.id

    @Test(arguments: [
        ("attachment; filename*=UTF-8''%D1%87%D0%B5%D0%BA.jpg", "чек.jpg"),
        ("attachment; filename*=utf-8'ru'a%0Ab%00c", "a\nb\u{0}c"),
        ("attachment; filename=\"plain.jpg\"", "plain.jpg"), ("attachment; filename=plain.jpg", "plain.jpg"),
        ("attachment; filename=\"a\\\"b;c.jpg\"; size=5", "a\"b;c.jpg"),
        ("attachment; filename=\"old\"; filename*=UTF-8''%E2%82%AC", "€"), ("attachment", ""),
        ("attachment; FileName*=UTF-8''..%2F..%2Fetc", "../../etc"),
        ("attachment;\t filename \t= \tplain.jpg \t; size=5", "plain.jpg"),
    ])
    func `a name is decoded as it is encoded`(field: String, name: String) async throws {
        let server = try FileFixture(.folder)
        #expect(try await server.put(Self.id, [1], ["Content-Disposition": field])?.status == 201)
        #expect(try server.storage.files().map(\.name) == [name])
        let response = try #require(try await server.ask(.get, "/files/\(Self.id)")?["Content-Disposition"])
        #expect(response.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        // The server decodes its own encoding to the same name.
        #expect(try await server.put(FileFixture.other, [1], ["Content-Disposition": response])?.status == 201)
        #expect(try server.storage.files().map(\.name) == [name, name])
    }

    @Test(arguments: [
        "attachment; filename*=latin1''%E4", "attachment; filename*=UTF-8''%FF%FE", "attachment; filename*=UTF-8''%D",
        "attachment; filename*=x", "attachment; filename*=UTF-8''" + String(repeating: "a", count: 1025),
    ])
    func `an invalid name is refused`(field: String) async throws {
        let server = try FileFixture(.memory)
        #expect(try await server.put(Self.id, [1], ["Content-Disposition": field])?.status == 400)
    }

    @Test func `a name in a response keeps the characters of RFC 8187, and escapes all others`() async throws {
        let server = try FileFixture(.memory)
        let kept = "azAZ09!#$&+-.^_`|~"
        let field = "attachment; filename*=UTF-8''\(kept)%20%25%27%28%2A%2F%3D%7F"
        #expect(try await server.put(Self.id, [1], ["Content-Disposition": field])?.status == 201)
        #expect(try server.storage.files().map(\.name) == [kept + " %'(*/=\u{7F}"])
        #expect(try await server.ask(.head, "/files/\(Self.id)")?["Content-Disposition"] == field)
    }

    @Test func `a name of three hundred bytes is stored`() async throws {
        let server = try FileFixture(.folder)
        let name = String(repeating: "ж", count: 150)
        let field = "attachment; filename*=UTF-8''" + String(repeating: "%D0%B6", count: 150)
        #expect(try await server.put(Self.id, [1], ["Content-Disposition": field])?.status == 201)
        #expect(try server.storage.files().map(\.name) == [name])
        #expect(try await server.ask(.head, "/files/\(Self.id)")?["Content-Disposition"] == field)
    }

    private static let anna = ["Authorization": "Bearer a"]
    private static let boris = ["X-ZUMO-AUTH": "b"]

    private func shared(_ configure: (inout ServerConfiguration) -> Void) throws -> FileFixture {
        try FileFixture(.memory) { configuration in
            configuration.user = { ["a": "anna", "b": "boris"][$0] }
            configure(&configuration)
        }
    }

    @Test func `users see only their own files if files are per user`() async throws {
        let server = try shared { $0.files?.isPerUser = true }
        let path = "/files/\(Self.id)"
        let nobody = try #require(try await server.put(Self.id, [1]))
        #expect(nobody.status == 401)
        #expect(nobody["WWW-Authenticate"] == "Bearer")
        #expect(try await server.put(Self.id, [1], ["Authorization": "Bearer x"])?.status == 401)
        #expect(try await server.put(Self.id, [1], Self.anna)?.status == 201)
        #expect(try await server.ask(.get, path)?.status == 401)
        #expect(try await server.ask(.get, path, Self.anna)?.body == [1])
        #expect(try await server.ask(.get, path, Self.boris)?.status == 404)
        #expect(try await server.ask(.head, path, Self.boris)?.status == 404)
        #expect(try await server.ask(.delete, path, Self.boris)?.status == 404)
        #expect(try await server.put(Self.id, [1], Self.boris)?.status == 403)
        #expect(try await server.put(Self.id, [2], Self.boris)?.status == 403)
        #expect(try await server.ask(.delete, path, Self.anna)?.status == 204)
    }

    @Test func `the hook decides which user may access a file`() async throws {
        let server = try shared { configuration in
            configuration.hooks.authorizeFile = { action, file, user in
                switch action {
                case .read: file.name != "secret" || user == file.owner
                case .write: user != nil
                case .delete: user == file.owner
                }
            }
        }
        let path = "/files/\(Self.id)"
        #expect(try await server.put(Self.id, [1])?.status == 403)
        #expect(try await server.put(Self.id, [1], Self.anna)?.status == 201)
        #expect(try await server.ask(.get, path)?.status == 200)
        #expect(try await server.ask(.delete, path, Self.boris)?.status == 403)
        #expect(try await server.ask(.delete, path, Self.anna)?.status == 204)
        let secret = Self.anna.merging(["Content-Disposition": "attachment; filename=secret"]) { $1 }
        #expect(try await server.put(Self.id, [1], secret)?.status == 201)
        #expect(try await server.ask(.get, path, Self.boris)?.status == 404)
        #expect(try await server.ask(.get, path, Self.anna)?.status == 200)
    }
}
