import Foundation
import HTTPTypes
import Tandem
import TandemDatasync
import TandemServer
import TandemSync

@Model struct Photo {
    var title: String
    var picture: Attachment?
}

/// Whole syncs of two stores: objects on a server in this process, files in a bucket, by addresses that another process
/// signs.
struct SyncedPhotos {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// The host and port of the process that signs.
    private let signer: String
    private let transport: AsyncHTTPTransport

    init(signer: String) throws {
        self.signer = signer
        transport = try AsyncHTTPTransport()
    }

    /// Synchronizes two new stores.
    ///
    /// - Returns: The key and the SHA-256 of each file that the bucket must have then, a line each.
    func run(in folder: String) async throws -> String {
        let server = try await TandemServer.start(ServerCore.inMemory())
        let first = try Store(at: folder + "/first.tandem", models: Photo.self)
        let second = try Store(at: folder + "/second.tandem", models: Photo.self)
        let (here, there) = (try context(first, server), try context(second, server))

        var sent: [String: Data] = [:]
        for (number, size) in [1, 70_000, 3 << 20].enumerated() {
            let (title, bytes) = ("photo \(number)", Self.bytes(size, number))
            sent[title] = bytes
            let picture = try first.attachments.add(bytes, name: "\(title).jpg")
            try await first.write { tx in _ = try tx.insert(Photo(title: title, picture: picture)) }
        }
        try await here.synchronize()
        try await there.synchronize()
        try check(try await pictures(of: second, there) == sent, "the second store has what the first one sent")

        // A photo is replaced, and another one is deleted.
        let photos = try await second.objects(Photo.self).sorted(by: \.title).all()
        let bytes = Self.bytes(50_000, 9)
        let other = try second.attachments.add(bytes, name: "other.jpg")
        try await second.write { tx in
            _ = try tx.update(Photo.self, localID: photos[0].localID) { $0.picture = other }
            _ = try tx.delete(Photo.self, localID: photos[1].localID)
        }
        sent["photo 0"] = bytes
        sent["photo 1"] = nil
        try await there.synchronize()
        try await here.synchronize()
        try check(try await pictures(of: first, here) == sent, "the first store has what the second one changed")
        try check(try await pictures(of: second, there) == sent, "the second store has what it changed")

        var lines: [String] = []
        for store in [first, second] {
            let photos = try await store.objects(Photo.self).all()
            try check(photos.allSatisfy(\.isSynced) && store.operations.count() == 0, "all is synced")
            try check(store.checkIntegrity() == [], "the store is sound")
            lines = photos.compactMap(\.picture).map { "photos/\($0.id.rawValue) \($0.sha256?.hex ?? "-")" }
            store.close()
        }
        try await server.stop()
        return lines.sorted().joined(separator: "\n")
    }

    private func check(_ condition: Bool, _ what: String) throws {
        if !condition { throw Failed(description: "not so: \(what)") }
    }

    /// The bytes of each photograph, fetched if they are not on the device.
    private func pictures(of store: Store, _ context: SyncContext) async throws -> [String: Data] {
        var pictures: [String: Data] = [:]
        for photo in try await store.objects(Photo.self).all() {
            guard let picture = photo.picture else { continue }
            if try !store.attachments.status(of: picture).isOnDevice { try await context.download(picture) }
            pictures[photo.title] = try store.attachments.data(of: picture)
        }
        return pictures
    }

    private static func bytes(_ count: Int, _ seed: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ ($0 >> 8) &+ seed &* 77) })
    }

    // MARK: Files

    private func context(_ store: Store, _ server: TandemServer) throws -> SyncContext {
        var options = SyncContext.Options()
        options.deletesFiles = true
        let files = SignedURLFiles(over: transport) { file in
            SignedUpload(try await sign("put_object", file.id))
        } download: { file in
            try await sign("get_object", try id(of: file))
        } delete: { file in
            try await sign("delete_object", try id(of: file))
        }
        return SyncContext(store: store, remote: try DatasyncRemote(url: server.url), files: files, options: options)
    }

    /// Asks for a signed address, as an app asks its server.
    private func sign(_ method: String, _ id: String) async throws -> SignedRequest {
        let request = HTTPRequest(method: .get, scheme: "http", authority: signer, path: "/\(method)/photos/\(id)")
        let (response, url) = try await transport.send(request, body: [], limit: 1 << 16)
        guard response.status.code == 200 else { throw Failed(description: "not signed: \(response.status)") }
        return SignedRequest(url: String(decoding: url, as: UTF8.self))
    }

    private func id(of file: RemoteFile) throws -> String {
        guard let range = file.url.range(of: "/photos/") else {
            throw Failed(description: "another's file: \(file.url)")
        }
        return String(file.url[range.upperBound...])
    }
}
