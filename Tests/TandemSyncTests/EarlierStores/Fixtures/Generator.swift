import Crypto
import Foundation
import Tandem
import TandemSync
import TandemTesting

/// Writes the stores. README.md says how to run this program.
@main struct Generator {
    static func main() async throws {
        let folder = CommandLine.arguments[1]
        try await Device(in: folder + "/plain").finish { _ in }
        let (passphrase, raw) = (
            CipherKey.passphrase(EarlierValues.passphrase), CipherKey.raw(EarlierValues.rawKey)
        )
        try await Device(in: folder + "/encrypted", key: passphrase, profile: .aes256gcm).finish { _ in }
        try await Device(in: folder + "/sqlcipher", key: raw, profile: .sqlCipher4).finish { _ in }
        try await Device(in: folder + "/operations").finish { try await $0.queueOperations() }
        try await Device(in: folder + "/files").finish { try await $0.queueFiles() }
    }
}

/// A device with a store, and its server.
struct Device: Sendable {
    let folder: String
    let clock = ManualClock(EarlierValues.date)
    let remote = ScriptedRemote(clock: ManualClock(EarlierValues.date))
    let files = ScriptedFiles()
    let store: Store
    let sync: SyncContext

    /// Creates a store, and fetches the server's objects.
    init(in folder: String, key: CipherKey? = nil, profile: CipherProfile = .aes256gcm) async throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var configuration = Store.Configuration()
        configuration.now = clock.now
        let (path, models) = (folder + "/library.tandem", [Author.self, Volume.self, Reading.self] as [any Model.Type])
        store =
            if let key {
                try Store(at: path, key: key, profile: profile, models: models, configuration: configuration)
            } else {
                try Store(at: path, models: models, configuration: configuration)
            }
        var options = SyncContext.Options()
        options.clock = JumpingClock(clock)
        options.serverName = "library"
        options.retry.tries = 1
        sync = SyncContext(store: store, remote: remote, files: files, user: "анна", options: options)
        try sync.table(Volume.self).setConflicts(.report)
        seed()
        try await pull()
        // After the time for late commits, the positions are stored as settled.
        clock.advance(by: 60)
        remote.advanceClock(by: 60)
        try await pull()
        let book = try volume("a")
        try await sync.download(book.cover!)
        try await store.write { tx in
            _ = try tx.update(Volume.self, book.localID) { $0.place = "Στο ράφι" }
            try tx.insert(Reading(volume: Reference(localID: book.localID), page: 17, note: "読みかけ"))
        }
    }

    private func pull() async throws {
        try await sync.synchronize([
            PullQuery(Author.self, queryID: "authors"), PullQuery(Volume.self, queryID: "volumes"),
        ])
    }

    private func seed() {
        author("pushkin", "Александр Пушкин", born: "1799-06-06T00:00:00.000Z")
        author("kavafis", "Κωνσταντίνος Καβάφης", born: "1863-04-29T12:30:15.250Z")
        author("soseki", "夏目漱石", born: nil)
        files.put(EarlierValues.cover, at: EarlierValues.coverID)
        volume("a", "Евгений Онегин", author: "pushkin") { item in
            item.set(.text("1234567890.01"), of: "price")
            item.set(.real(0.75), of: "weight")
            item.set(.array([.text("роман"), .text("стихи")]), of: "words")
            item.set(.object([("Анна", .integer(2)), ("Борис", .integer(1))]), of: "owners")
            item.set(.array([.text("kavafis"), .text("soseki")]), of: "editors")
            let hash = SHA256.hash(data: EarlierValues.cover).map { String(format: "%02x", $0) }.joined()
            item.set(
                .object([
                    ("id", .text(EarlierValues.coverID)), ("name", .text("обложка.jpg")),
                    ("type", .text("image/jpeg")), ("size", .integer(Int64(EarlierValues.cover.count))),
                    ("sha256", .text(hash)), ("url", .text(ScriptedFiles.url(of: EarlierValues.coverID))),
                ]), of: "cover")
        }
        volume("b", "Κεριά", author: "kavafis") { $0.set(.text("-0.001"), of: "price") }
        volume("c", "吾輩は猫である", author: "soseki") { $0.set(.bool(true), of: "isOut") }
        volume("d", "Пиковая дама", author: "pushkin") { _ in }
    }

    private func author(_ id: String, _ name: String, born: String?) {
        remote.edit("Author", ServerID(id)) { item in
            item.set(.text(name), of: "name")
            item.set(born.map { .text($0) } ?? .null, of: "born")
        }
    }

    private func volume(_ id: String, _ title: String, author: String, _ change: (inout RemoteItem) -> Void) {
        remote.edit("Volume", ServerID(id)) { item in
            item.set(.text(title), of: "title")
            item.set(.text("code-\(id)"), of: "code")
            item.set(.integer(100), of: "pages")
            item.set(.text("2001-02-03T04:05:06.789Z"), of: "published")
            item.set(.text(author), of: "author")
            change(&item)
        }
    }

    private func volume(_ id: String) throws -> Volume {
        try store.object(ofType: Volume.self, forServerID: ServerID(id))!
    }

    /// Queues an edit in conflict, an insert with a lost response, and operations that were not sent.
    ///
    /// The unsent operations are two inserts, an update and a delete.
    func queueOperations() async throws {
        let (a, b, c) = (try volume("a"), try volume("b"), try volume("c"))
        try await store.write { _ = try $0.update(Volume.self, a.localID) { $0.pages = 111 } }
        remote.edit("Volume", "a") { $0.set(.integer(222), of: "pages") }
        _ = try? await sync.push()
        try await store.write { try $0.insert(Author(name: "Потерянный Ответ")) }
        remote.next(.loseResponse, on: .insert)
        _ = try? await sync.push()
        clock.advance(by: 10)
        try await store.write { tx in
            let author = try tx.insert(Author(name: "川端康成", born: EarlierValues.date))
            try tx.insert(
                Volume(title: "雪国", code: "code-new", price: 12.34, author: Reference(localID: author.localID)))
            _ = try tx.update(Volume.self, b.localID) {
                $0.price = 99.99
                $0.words = ["ποίηση"]
            }
            _ = try tx.delete(Volume.self, c.localID)
        }
    }

    /// Queues a refused file, a file whose upload broke, and a file that was never sent.
    func queueFiles() async throws {
        let b = try volume("b")
        let refused = try store.attachments.add(EarlierValues.bytes(900, seed: 5), name: "εξώφυλλο.png")
        try await store.write { _ = try $0.update(Volume.self, b.localID) { $0.cover = refused } }
        files.next(.fail(.refused(status: 403, message: "Όχι.")), on: .upload)
        _ = try? await sync.push()
        let broken = try store.attachments.add(EarlierValues.bytes(2000, seed: 6), name: "表紙.png")
        try await store.write { try $0.insert(Volume(title: "こころ", code: "code-broken", cover: broken)) }
        files.next(.fail(.refused(status: 403, message: "Όχι.")), on: .id(refused.id.rawValue))
        files.next(.cut(after: 700), on: .id(broken.id.rawValue))
        _ = try? await sync.push()
        let new = try store.attachments.add(EarlierValues.bytes(300, seed: 7), name: "новая.png")
        try await store.write { try $0.insert(Volume(title: "Капитанская дочка", code: "code-new", cover: new)) }
    }

    /// Runs a closure, closes the store, and writes the server's items beside it.
    func finish(_ body: @Sendable (Device) async throws -> Void) async throws {
        try await body(self)
        print(folder, try store.operations.all().map { "\($0.kind) \($0.state) \($0.attempts)" })
        print(try await sync.status(), try store.checkIntegrity())
        try store.compact()
        store.close()
        var lines = ""
        for table in ["Author", "Volume"] as [RemoteTableName] {
            for item in remote.all(in: table) {
                var json: [UInt8] = []
                try ExactJSON.writeForeign(.object(item.members), to: &json)
                let state = item.isDeleted ? "deleted" : "kept"
                lines += "\(item.version!)\t\(table)\t\(item.id)\t\(state)\t\(String(decoding: json, as: UTF8.self))\n"
            }
        }
        try Data(lines.utf8).write(to: URL(fileURLWithPath: folder + "/server.txt"))
    }
}
