import Foundation
import Tandem
import TandemSync

/// A device that executes the commands of a script.
///
/// | command | effect |
/// | --- | --- |
/// | `insert PREFIX COUNT` | inserts notes with the tags PREFIX-0, PREFIX-1, … |
/// | `add TAG` | inserts a note without a topic |
/// | `edit TAG TITLE` | sets a note's title |
/// | `delete TAG` | deletes a note |
/// | `sync` | synchronizes once, and fails unless all was exchanged |
/// | `attempt` | synchronizes once, and prints each failure: see `SharingCommands` |
/// | `retry`, `discard` | decides about all operations that the server refused |
/// | `principal`, `share TAG PRINCIPAL PERMISSION`, `unshare TAG PRINCIPAL` | shares notes: see `SharingCommands` |
/// | `finish SECONDS` | synchronizes until all was exchanged, for a limited time |
/// | `pull SECONDS` | synchronizes repeatedly for the given time, at least once, and prints `pulls COUNT` |
/// | `work SEED SECONDS COUNT` | changes and synchronizes concurrently: see `DeviceWork` |
/// | `dump` | prints each note as JSON |
/// | `live` | prints `event JSON` for each note that appears or changes in a live query from now on |
/// | `poll SECONDS` | starts a scheduler that polls the server in this interval |
/// | `stop` | stops the scheduler |
struct DeviceCommands {
    private let store: Store
    private let context: SyncContext
    private let number: Int
    private let sharing: SharingCommands
    private var scheduler: SyncScheduler?
    private var watch: Task<Void, Never>?

    init(path: String, bucket: PeerBucket, settings: DeviceSettings) throws {
        store = try settings.openStore(at: path)
        context = try settings.context(store, bucket)
        number = settings.number
        sharing = SharingCommands(store: store, context: context, remote: bucket.remote)
    }

    mutating func run(_ words: [String]) async throws {
        func integer(_ index: Int) throws -> Int {
            guard index < words.count, let value = Int(words[index]) else { throw PeerFailure("no number: \(words)") }
            return value
        }
        switch (words.first, words.count) {
        case ("insert", 3): try await insert(words[1], count: try integer(2))
        case ("add", 2): try await add(words[1])
        case ("edit", 3): try await edit(words[1], title: words[2])
        case ("delete", 2): try await delete(words[1])
        case ("sync", 1): try await synchronize()
        case ("finish", 2): try await finish(seconds: try integer(1))
        case ("pull", 2): try await pull(seconds: try integer(1))
        case ("work", 4):
            let work = DeviceWork(store, context, number: number)
            try await work.run(seed: try integer(1), seconds: try integer(2), count: try integer(3))
        case ("dump", 1): try await dump()
        case ("live", 1): try await startWatching()
        case ("poll", 2): poll(every: .seconds(try integer(1)))
        case ("stop", 1): await end()
        default:
            guard try await sharing.run(words) else { throw PeerFailure("unknown command: \(words)") }
        }
    }

    /// Ends the scheduler and the live query.
    mutating func end() async {
        watch?.cancel()
        watch = nil
        await scheduler?.stop()
        scheduler = nil
    }

    // MARK: Changing

    private func insert(_ prefix: String, count: Int) async throws {
        for first in stride(from: 0, to: count, by: 1000) {
            try await store.write { tx in
                for number in first..<min(first + 1000, count) {
                    let tag = "\(prefix)-\(number)"
                    let topic = number % 50 == 0 ? Reference(try tx.insert(KintoTopic(name: tag))) : nil
                    try tx.insert(KintoNote(tag: tag, title: tag, topic: topic))
                }
            }
        }
    }

    private func add(_ tag: String) async throws {
        try await store.write { _ = try $0.insert(KintoNote(tag: tag, title: tag)) }
    }

    private func edit(_ tag: String, title: String) async throws {
        try await store.write { tx in
            try tx.update(KintoNote.self, localID: try tx.note(tag).localID) { $0.title = title }
        }
    }

    private func delete(_ tag: String) async throws {
        try await store.write { tx in try tx.delete(KintoNote.self, localID: try tx.note(tag).localID) }
    }

    private func dump() async throws {
        let lines = try await store.read { tx in
            try tx.objects(KintoNote.self).all().map { try KintoPeerMain.json(DumpedNote($0, in: tx)) }
        }
        for line in lines { KintoPeerMain.say(line) }
    }

    // MARK: Synchronizing

    private func synchronize() async throws {
        let result = try await context.synchronize()
        guard result.isComplete else { throw PeerFailure("not complete: \(result.issues)") }
    }

    private func finish(seconds: Int) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            let state: String
            do {
                let result = try await context.synchronize()
                let count = try store.operations.count()
                if result.isComplete, count == 0 { return }
                state = "\(count) operations, \(result.issues.prefix(5))"
            } catch let error as SyncError {
                state = "\(error)"
            }
            guard ContinuousClock.now < end else { throw PeerFailure("not finished after \(seconds) s: \(state)") }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func pull(seconds: Int) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        var count = 0
        repeat {
            try await synchronize()
            count += 1
        } while ContinuousClock.now < end
        KintoPeerMain.say("pulls \(count)")
    }

    private mutating func poll(every interval: Duration) {
        var options = SyncScheduler.Options()
        options.polling = interval...interval
        options.debounce = .milliseconds(50)
        let scheduler = SyncScheduler(context, options: options, network: nil) { result in
            // The script prints the log if an expected change does not arrive.
            if case .failure(let error) = result { FileHandle.standardError.write(Data("\(error)\n".utf8)) }
        }
        scheduler.start()
        self.scheduler = scheduler
    }

    // MARK: Watching

    private struct Event: Encodable {
        let tag: String
        let title: String

        init(_ note: KintoNote) {
            tag = note.tag
            title = note.title
        }
    }

    private mutating func startWatching() async throws {
        let changes = store.objects(KintoNote.self).changesetPublisher.values
        let (starts, started) = AsyncStream<Void>.makeStream()
        watch = Task {
            do {
                for try await change in changes {
                    if change.isInitial {
                        started.finish()
                        continue
                    }
                    let notes =
                        change.insertions.map { change.results[$0] }
                        + change.modifications.map { change.newValue(of: $0) }
                    for note in notes { try KintoPeerMain.say("event", Event(note)) }
                }
            } catch {
                FileHandle.standardError.write(Data("live query: \(error)\n".utf8))
            }
            started.finish()
        }
        for await _ in starts {}
    }
}
