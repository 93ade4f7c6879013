import Foundation
import Tandem
import TandemSync

/// The upload and download of a random file of 256 MiB.
///
/// The baselines are curl and sha256sum in their own processes, with the same server and disk.
///
/// The subjects differ in what they flush. The server flushes each upload. Tandem flushes attached and downloaded files
/// with their names, and curl flushes nothing. A baseline called `…+sync` runs the system's `sync FILE` afterwards.
/// Before each round, pending writes of other processes are flushed.
extension Benchmark {
    static let files: [Benchmark] = [upload(false), upload(true), download(false), download(true)]

    /// Returns the maximum ratio: 1.2, or 1.5 if the store is encrypted.
    private static func bound(_ isEncrypted: Bool) -> Double { isEncrypted ? 1.5 : 1.2 }

    private static func name(_ task: String, isEncrypted: Bool) -> String {
        isEncrypted ? "file-\(task)-encrypted" : "file-\(task)"
    }

    /// The task `push` sends an object and its file, which was attached and hashed before. It ends when the server has
    /// the file and the update with its URL.
    ///
    /// Its baseline `sha256sum+curl` computes the hash and sends the file, and `curl` knows the hash. The task
    /// `add+push` includes everything: the file is copied into the store, hashed, encrypted, flushed, and sent from
    /// there. Its baseline makes the same flushed copy with `cp+sync` first.
    private static func upload(_ isEncrypted: Bool) -> Benchmark {
        Benchmark(name("upload", isEncrypted: isEncrypted)) { context in
            let film = try FilmFile(context)
            func contender(_ name: String, attaching: Bool) -> Contender {
                let films = FilmStore(
                    context.path(name + "\(isEncrypted)"), isEncrypted: isEncrypted, server: film.server.url)
                func attach(_ store: Store) throws -> Attachment {
                    try store.attachments.add(contentsOf: film.path, name: "film.bin")
                }
                func id() throws -> String { try films.film().file?.id.rawValue ?? "" }
                return Contender(
                    name: name,
                    prepare: {
                        try films.open { store, _ in
                            let file = attaching ? nil : try attach(store)
                            return try store.write { try $0.insert(Film(title: "film", file: file)) }
                        }
                    },
                    run: {
                        if attaching {
                            let (store, id) = (try films.opened.store, try films.opened.film.localID)
                            let file = try attach(store)
                            try store.write { _ = try $0.update(Film.self, localID: id) { $0.file = file } }
                        }
                        try films.push()
                    },
                    finish: {
                        try film.server.delete(try id())
                        try films.close()
                    },
                    outcome: { try film.server.outcome(try id()) })
            }
            let copy = film.path + "-copy"
            func baseline(_ name: String, _ run: @escaping (_ id: String) throws -> Void) -> Contender {
                var id = ""
                return Contender(
                    name: name,
                    prepare: {
                        id = FilmFile.newID()
                        // Overwriting the copy would be different work.
                        try? FileManager.default.removeItem(atPath: copy)
                        Tool.syncDisk()
                    },
                    run: { try run(id) },
                    finish: { try film.server.delete(id) },
                    outcome: { try film.server.outcome(id) })
            }
            let both = baseline("sha256sum+curl") { id in
                try film.server.put(film.path, sha256: try Tool.sha256sum(film.path), as: id)
            }
            let alone = baseline("curl") { try film.server.put(film.path, sha256: film.sha256, as: $0) }
            let copying = baseline("cp+sync+sha256sum+curl") { id in
                try Tool.run("cp", with: ["--reflink=never", film.path, copy])
                try Tool.run("sync", with: [copy])
                try film.server.put(copy, sha256: try Tool.sha256sum(copy), as: id)
            }
            return Contest(
                subject: contender("push", attaching: false), baselines: [both, alone],
                bounds: [both.name: bound(isEncrypted)],
                beside: [Contest(subject: contender("add+push", attaching: true), baselines: [both, copying])])
        }
    }

    /// The task `download` calls `SyncContext.download`. It ends when the file's size and hash are checked, and the
    /// file is flushed in its place. The baseline `curl+sha256sum` fetches and hashes the file.
    private static func download(_ isEncrypted: Bool) -> Benchmark {
        Benchmark(name("download", isEncrypted: isEncrypted)) { context in
            let film = try FilmFile(context)
            let id = try film.send(context.path("film-sender"))
            let films = FilmStore(
                context.path("download-\(isEncrypted)"), isEncrypted: isEncrypted, server: film.server.url)
            let subject = Contender(
                name: "download",
                prepare: {
                    try films.open { store, sync in
                        _ = try blocking { try await sync.synchronize() }
                        guard let film = try store.objects(Film.self).first() else {
                            throw UsageError(problem: "no film was pulled")
                        }
                        return film
                    }
                },
                run: {
                    let (sync, file) = (try films.opened.sync, try films.opened.film.file)
                    guard let file else { throw UsageError(problem: "the film has no file") }
                    try blocking { try await sync.download(file) }
                },
                finish: { try films.close() },
                outcome: {
                    let (store, file) = (try films.opened.store, try films.opened.film.file)
                    guard let file else { return "none" }
                    try store.attachments.verify(file)
                    return "\(file.size ?? 0) bytes, \(file.sha256?.hex ?? "")"
                })
            func baseline(_ name: String, flushing: Bool) -> Contender {
                let path = film.path + "-fetched"
                var sha256 = ""
                return Contender(
                    name: name,
                    prepare: {
                        try? FileManager.default.removeItem(atPath: path)
                        Tool.syncDisk()
                    },
                    run: {
                        try film.server.get(id, to: path)
                        sha256 = try Tool.sha256sum(path)
                        if flushing { try Tool.run("sync", with: [path]) }
                    },
                    outcome: { "\(film.size) bytes, \(sha256)" })
            }
            return Contest(
                subject: subject,
                baselines: [
                    baseline("curl+sha256sum", flushing: false), baseline("curl+sha256sum+sync", flushing: true),
                ],
                bounds: ["curl+sha256sum": bound(isEncrypted)])
        }
    }
}

/// The file of the tasks, and its server.
private final class FilmFile {
    let path: String
    let size: Int
    let sha256: String
    let server: FileServer

    init(_ context: Context) throws {
        let folder = context.folder + "/films-\(Self.newID().prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = folder + "/film.bin"
        size = context.count(256 << 20)
        try Tool.run("sh", with: ["-c", "head -c \(size) /dev/urandom > \(path)"])
        sha256 = try Tool.sha256sum(path)
        server = try FileServer(folder + "/shelf")
    }

    /// Uploads a film with its file.
    ///
    /// - Returns: The file's ID.
    func send(_ store: String) throws -> String {
        let films = FilmStore(store, isEncrypted: false, server: server.url)
        try films.open { store, _ in
            let file = try store.attachments.add(contentsOf: path, name: "film.bin")
            return try store.write { try $0.insert(Film(title: "film", file: file)) }
        }
        try films.push()
        defer { try? films.close() }
        return try films.film().file?.id.rawValue ?? ""
    }

    static func newID() -> String {
        (0..<16).map { _ in String(UInt8.random(in: 0...255), radix: 16) }
            .map { $0.count == 1 ? "0" + $0 : $0 }.joined()
    }
}
