import Foundation
import Tandem
import TandemTestScript
import TandemTesting

/// A process that tests start beside themselves: it opens a store and does as its arguments say, one line on its
/// output for each thing done. If the last argument is "unprivileged", it first gives up the rights of root.
@main struct PeerMain {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            try run(arguments)
        } catch let error as TandemError {
            say("error \(error.code) \(error)")
            exit(3)
        } catch {
            say("error other \(error)")
            exit(4)
        }
    }

    /// Prints a line at once: who is killed next must have said it.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { Foundation.write(1, $0.baseAddress!, $0.count) }
    }

    private static func text(_ value: StorageValue) -> String {
        if case .integer(let number) = value { "\(number)" } else { "\(value)" }
    }

    private static func run(_ arguments: [String]) throws {
        if arguments.last == "unprivileged" { try dropPrivileges() }
        let path = arguments[1]
        switch arguments[0] {
        case "script": try script(path, seed: UInt64(arguments[2])!)
        case "files": try files(path, seed: UInt64(arguments[2])!)
        case "attach": try attach(path, arguments[2])
        case "exposeFiles": try exposeFiles(path, arguments[2])
        case "large": try LargeFile(path: path, mebibytes: Int(arguments[2])!).run()
        case "count": try count(path, times: Int(arguments[2])!)
        case "commits": try commits(path, times: Int(arguments[2])!, gap: Int(arguments[3])!, until: arguments[4])
        case "slow": try slow(path, milliseconds: UInt32(arguments[2])!, until: arguments[3])
        case "touch": _ = try Peer.open(path).sql("SELECT count(*) FROM \"PeerPerson\"")
        case "hold": try hold(path, until: arguments[2])
        case "observe": try observe(path)
        case "fill": try fill(path, ballast: arguments[2])
        case "write": try write(path, arguments[2])
        case "read":
            let store = try Peer.open(path, readOnly: true, busyTimeout: 1)
            let rows = try store.sql("SELECT count(*) FROM \"PeerCard\"")
            say("cards \(text(rows[0][0]))")
            do {
                try store.write { try $0.insert(PeerPerson(name: "x")) }
            } catch let error as TandemError {
                say("write \(error.code)")
            }
        case "rewrite":
            var configuration = Store.Configuration()
            configuration.schemaVersion = 1
            configuration.migrate(to: 1) { migration in try migration.convert("name", of: "PeerPerson") { $0 } }
            let kind = Peer.kind(of: path)
            let store = try kind.open(at: path, [PeerPersonGrown.self], configuration: configuration)
            say("rows \(try store.objects(PeerPersonGrown.self).count())")
        case "sort":
            var configuration = Store.Configuration()
            configuration.sortLanguage = SortLanguage(rawValue: arguments[2])!
            let models: [any Model.Type] = [PeerCard.self, PeerPerson.self, PeerMark.self]
            let store = try Peer.kind(of: path).open(at: path, models, configuration: configuration)
            try store.write { try $0.insert(PeerPerson(name: arguments[3])) }
            let names = try store.objects(PeerPerson.self).sorted(by: \.name).all().map(\.name)
            say("names \(names.joined(separator: " "))")
        case "migrate":
            let store = try Peer.open(path, models: [PeerPersonGrown.self])
            let rows = try store.sql("SELECT count(*) FROM \"PeerPerson\" WHERE \"city\" = 'Псков'")
            say("rows \(text(rows[0][0]))")
        default:
            say("error unknown \(arguments)")
            exit(2)
        }
    }

    /// Gives up the rights of root, which may read and write every file. Other users have none to give up.
    private static func dropPrivileges() throws {
        guard geteuid() == 0 else { return }
        let nobody: uid_t = 65534
        guard setgroups(0, nil) == 0, setgid(nobody) == 0, setuid(nobody) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
        }
    }

    /// Writes a text into some objects, and waits to be killed.
    private static func write(_ path: String, _ text: String) throws {
        let store = try Peer.open(path)
        try store.write { tx in
            for index in 0..<100 { try tx.insert(PeerCard(shop: text, barcode: "\(text) \(index)")) }
            try tx.insert(PeerPerson(name: text))
        }
        _ = try store.objects(PeerCard.self).all()
        say("written")
        while true { pause() }
    }

    /// Continues a script from the state of the store, until the process is killed.
    private static func script(_ path: String, seed: UInt64) throws {
        let store = try Peer.open(path)
        var world = PeerWorld(seed: seed)
        let mark = try store.sql("SELECT \"number\" FROM \"PeerMark\"").first?[0]
        if case .integer(let number)? = mark { while world.number < number { _ = world.step() } }
        say("ready \(world.number)")
        while true {
            let transaction = world.step()
            try transaction.write(to: store, number: world.number)
            say("ack \(world.number)")
        }
    }

    /// Attaches, replaces and frees files until the process is killed.
    private static func files(_ path: String, seed: UInt64) throws {
        let store = try Peer.open(path, models: [PeerFile.self])
        var random = PeerRandom(seed)
        var number = 0
        while true {
            try PeerFile.step(store, &random)
            number += 1
            say("ack \(number)")
        }
    }

    /// Has files in all states, and waits to be killed.
    private static func attach(_ path: String, _ text: String) throws {
        let store = try Peer.open(path, models: [PeerFile.self])
        let draft = try PeerFile.fill(store, with: text)
        say("attached")
        withExtendedLifetime(draft) { while true { pause() } }
    }

    /// Does with files what writes them: attaches from a path and from bytes, fetches, copies, takes off the device.
    ///
    /// - Parameter secret: A file whose name is secret as well.
    private static func exposeFiles(_ path: String, _ secret: String) throws {
        let store = try Peer.open(path, models: [PeerFile.self])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: secret))
        let name = URL(fileURLWithPath: secret).lastPathComponent
        let files = [try store.attachments.add(contentsOf: secret), try store.attachments.add(bytes, name: name)]
        try store.write { try $0.insert(PeerFile(note: name, file: files[0], more: files)) }
        _ = try store.attachments.add(bytes, name: name)
        for file in files { _ = try store.attachments.data(of: file) }
        try store.write { _ = try $0.sync.acknowledgeUpload(of: files[0].id, at: "https://e.org/1", etag: nil) }
        try store.attachments.evict(files[0])
        if let download = try store.attachments.download(files[0]) {
            try download.write(bytes)
            _ = try download.finish()
        }
        try store.backup(to: path + "-backup")
        store.close()
        try Peer.open(path, models: [PeerFile.self]).close()
        say("done")
    }

    /// Adds one to the mark, and a person, so many times.
    private static func count(_ path: String, times: Int) throws {
        let store = try Peer.open(path)
        for _ in 0..<times {
            try store.write { tx in
                try tx.update(PeerMark.self, localID: PeerMark.id) { $0.number += 1 }
                try tx.insert(PeerPerson(name: "\(getpid())"))
            }
        }
        say("done")
    }

    /// Inserts one person in each of `times` commits, and prints the time after each commit.
    ///
    /// The clock is the one that all processes share. The store then stays open until a file appears. Otherwise closing
    /// it would write the log back, which other processes notice too.
    ///
    /// - Parameter gap: The milliseconds between two commits.
    private static func commits(_ path: String, times: Int, gap: Int, until file: String) throws {
        let store = try Peer.open(path)
        say("ready")
        for number in 1...max(1, times) {
            usleep(UInt32(gap) * 1000)
            try store.write { _ = try $0.insert(PeerPerson(name: "\(number)")) }
            say("commit \(number) \(PeerClock.now)")
        }
        wait(for: file)
        store.close()
    }

    /// Inserts one person in a commit that becomes visible late, as if the disk were slow.
    ///
    /// The commit becomes visible `milliseconds` after all its bytes are in the log.
    private static func slow(_ path: String, milliseconds: UInt32, until file: String) throws {
        let store = try Peer.open(path)
        SlowDisk.install(milliseconds: milliseconds)
        try store.write { _ = try $0.insert(PeerPerson(name: "slow")) }
        say("commit 1 \(PeerClock.now)")
        say("delays \(SlowDisk.delays)")
        wait(for: file)
        store.close()
    }

    private static func wait(for file: String) {
        while !FileManager.default.fileExists(atPath: file) { usleep(2000) }
    }

    /// Observes commits until the process is killed.
    private static func observe(_ path: String) throws {
        let store = try Peer.open(path)
        let counts = store.operations.counts
        say("observing")
        withExtendedLifetime((store, counts)) { while true { pause() } }
    }

    /// Holds the write lock until a file appears.
    private static func hold(_ path: String, until file: String) throws {
        let store = try Peer.open(path)
        try store.write { tx in
            try tx.insert(PeerPerson(name: "held"))
            say("holding")
            wait(for: file)
        }
        say("done")
    }

    /// Writes until the disk is full, then makes room and writes on.
    ///
    /// - Parameter ballast: The file to delete to make room, or a number. A number is a limit on the size of files,
    ///   which is lifted instead.
    private static func fill(_ path: String, ballast: String) throws {
        let store = try Peer.open(path)
        try store.write { try $0.insert(PeerMark(number: 0).identified(by: PeerMark.id)) }
        var limit = rlimit()
        if let bytes = UInt64(ballast) {
            signal(SIGXFSZ, SIG_IGN)
            getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            var low = limit
            low.rlim_cur = rlim_t(bytes)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &low)
        }
        var number = 0
        func writeOne() throws {
            try store.write { tx in
                for index in 0..<4 {
                    try tx.insert(
                        PeerCard(shop: String(repeating: "ж", count: 20_000), barcode: "\(number)-\(index)"))
                }
                try tx.update(PeerMark.self, localID: PeerMark.id) { $0.number += 1 }
            }
            number += 1
        }
        func report() throws {
            let rows = try store.sql(
                "SELECT (SELECT \"number\" FROM \"PeerMark\"), (SELECT count(*) FROM \"PeerCard\"), "
                    + "(SELECT count(*) FROM \"__operations\"), (SELECT count(*) FROM pragma_integrity_check "
                    + "WHERE integrity_check <> 'ok')")
            say("holds " + rows[0].values.map(text).joined(separator: " "))
            say("expected \(number) \(number * 4)")
        }
        do {
            while number < 10_000 { try writeOne() }
        } catch let error as TandemError {
            say("full \(error.code)")
        }
        try report()
        if UInt64(ballast) != nil {
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        } else {
            try FileManager.default.removeItem(atPath: ballast)
        }
        try writeOne()
        try report()
        store.close()
        let again = try Peer.open(path)
        say("reopened \(text(try again.sql("SELECT \"number\" FROM \"PeerMark\"")[0][0]))")
    }
}
