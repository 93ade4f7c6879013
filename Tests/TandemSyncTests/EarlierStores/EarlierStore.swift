import Foundation
import Tandem
import TandemTesting

@testable import TandemSync

/// A copy of a store that an earlier version of Tandem wrote.
///
/// It includes the server with which the store was synced. `Fixtures/README.md` describes these stores.
final class EarlierStore: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case plain, encrypted, sqlcipher, operations, files

        var key: CipherKey? {
            switch self {
            case .encrypted: .passphrase(EarlierValues.passphrase)
            case .sqlcipher: .raw(EarlierValues.rawKey)
            default: nil
            }
        }
    }

    let kind: Kind
    let folder: TemporaryFolder
    let clock = ManualClock(EarlierValues.date.addingTimeInterval(3600))
    let remote = ScriptedRemote(clock: ManualClock(EarlierValues.date))
    let files = ScriptedFiles()

    var path: String { folder.path(of: "library.tandem") }

    /// Copies a store.
    init(_ kind: Kind) throws {
        self.kind = kind
        folder = try TemporaryFolder()
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/\(kind.rawValue)").path
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture) {
            try FileManager.default.copyItem(atPath: fixture + "/" + name, toPath: folder.path(of: name))
        }
        try restoreServer()
        files.put(EarlierValues.cover, at: EarlierValues.coverID)
    }

    deinit { folder.remove() }

    struct InvalidFixture: Error {}

    /// Restores the server's items with their versions. The server numbers its versions, so that each missing number is
    /// an edit of an unused table.
    private func restoreServer() throws {
        let text = try String(contentsOfFile: folder.path(of: "server.txt"), encoding: .utf8)
        var items: [Int: (table: RemoteTableName, item: RemoteItem)] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "\t", maxSplits: 4).map { String($0) }
            guard parts.count == 5, let version = Int(parts[0].dropFirst()) else { throw InvalidFixture() }
            var json = parts[4]
            guard case .object(let members) = try json.withUTF8({ try ExactJSON.parseWire($0) }) else {
                throw InvalidFixture()
            }
            let item = RemoteItem(id: ServerID(parts[2]), isDeleted: parts[3] == "deleted", members: members)
            items[version] = (RemoteTableName(parts[1]), item)
        }
        for version in 1...(items.keys.max() ?? 1) {
            let (table, item) = items[version] ?? ("Unused", RemoteItem(id: "unused"))
            remote.edit(table, id: item.id) { ($0.members, $0.isDeleted) = (item.members, item.isDeleted) }
        }
        // Later changes come after the store's pulls.
        remote.advanceClock(by: 3600)
    }

    /// Opens the store.
    func open() throws -> Store {
        var configuration = Store.Configuration()
        configuration.now = clock.now
        let models: [any Model.Type] = [Author.self, Volume.self, Reading.self]
        guard let key = kind.key else { return try Store(at: path, models: models, configuration: configuration) }
        return try Store(
            at: path, key: key, profile: kind == .sqlcipher ? .sqlCipher4 : .aes256gcm, models: models,
            configuration: configuration)
    }

    /// Creates a context for the opened store, with the user and the server's name of its earlier syncs.
    func context(_ store: Store) throws -> SyncContext {
        var options = SyncContext.Options()
        options.clock = JumpingClock(clock)
        options.serverName = "library"
        options.random = { 0 }
        let sync = SyncContext(store: store, remote: remote, files: files, user: "анна", options: options)
        try sync.table(Volume.self).setConflicts(.report)
        return sync
    }

    /// The queries of the earlier syncs.
    static var queries: [PullQuery] {
        [PullQuery(Author.self, queryID: "authors"), PullQuery(Volume.self, queryID: "volumes")]
    }

    /// Returns the server's item of an object.
    func served(_ volume: Volume) -> RemoteItem? { remote.items(in: "Volume").first { $0.id == volume.serverID } }

    /// Returns the differences between the store and the server: none after a complete sync.
    func differences(_ store: Store) throws -> [String] {
        var found = try store.checkIntegrity()
        if try store.operations.count() > 0 { found.append("operations are pending") }
        let authors = try store.objects(Author.self).all()
        let volumes = try store.objects(Volume.self).all()
        found += authors.filter { !$0.isSynced }.map { "\($0.name) is not synced" }
        found += volumes.filter { !$0.isSynced }.map { "\($0.title) is not synced" }
        let names = Set(remote.items(in: "Author").compactMap { $0.text("name") })
        if Set(authors.map(\.name)) != names { found.append("authors differ: \(names)") }
        for volume in volumes {
            guard let item = served(volume), item.version == volume.version, item.text("title") == volume.title,
                item[member: "pages"] == .integer(Int64(volume.pages)),
                try item.text("author") == store.object(volume.author)?.serverID?.rawValue
            else {
                found.append("\(volume.title) differs")
                continue
            }
        }
        if volumes.count != remote.items(in: "Volume").count { found.append("the numbers of volumes differ") }
        return found
    }
}

extension RemoteItem {
    /// Returns a text member.
    fileprivate func text(_ name: String) -> String? {
        if case .text(let text)? = self[member: name] { text } else { nil }
    }
}
