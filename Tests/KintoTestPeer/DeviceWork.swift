import Foundation
import Tandem
import TandemSync
import TandemTesting

/// The work of a device: it changes random notes and concurrently synchronizes them. It prints `act JSON` after the
/// commit of each change, so that the script can compare the server with all acts.
///
/// Notes with tags that begin with x are edited and deleted only by the device that inserted them.
///
/// A device with more than `mostUnsent` operations only inserts. With a slow server, the number of operations would
/// otherwise have no limit. The last sync would then take longer than the script waits.
struct DeviceWork: Sendable {
    private struct Act: Encodable {
        let act: String
        let tag: String
        var member: String?
        var value: Int?
    }

    private static let mostUnsent = 1_000

    private let store: Store
    private let context: SyncContext
    private let number: Int

    init(_ store: Store, _ context: SyncContext, number: Int) {
        self.store = store
        self.context = context
        self.number = number
    }

    /// - Parameter count: The number of notes to insert, evenly spread over the time.
    func run(seed: Int, seconds: Int, count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await change(seed: seed, seconds: seconds, count: count) }
            group.addTask { try await synchronize() }
            try await group.next()
            // The synchronization has no end of its own.
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !Self.isCancellation(error) { throw error }
            }
        }
    }

    private static func isCancellation(_ error: any Error) -> Bool {
        error is CancellationError || (error as? SyncError)?.code == .cancelled
    }

    // MARK: Synchronizing

    private func synchronize() async throws {
        while true {
            do {
                _ = try await context.synchronize()
            } catch let error as SyncError where error.code != .cancelled {
                // Servers are killed and responses are lost: the script checks the result.
                FileHandle.standardError.write(Data("\(error.code): \(error.message)\n".utf8))
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    // MARK: Changing

    private func change(seed: Int, seconds: Int, count: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let start = ContinuousClock.now
        var known: [LocalID] = []
        var own: [LocalID] = []
        var inserted = 0
        var round = 0
        var isBehind = false
        while true {
            let elapsed = start.duration(to: .now)
            let part = min(1, elapsed / .seconds(seconds))
            if part == 1, inserted == count { return }
            let target = Int(Double(count) * part)
            if inserted < target {
                // Many notes at once make long batches.
                let numbers = inserted..<min(target, inserted + 200)
                own += try await insert(numbers)
                inserted = numbers.upperBound
            }
            if round % 20 == 0 {
                known = try await sharedNotes()
                isBehind = try store.operations.count() > Self.mostUnsent
            }
            round += 1
            if !isBehind {
                if !own.isEmpty, Int.random(in: 0..<5, using: &random) == 0 { try await delete(own.removeFirst()) }
                for _ in 0..<3 {
                    guard let id = known.randomElement(using: &random) else { break }
                    try await edit(id, retitles: Int.random(in: 0..<10, using: &random) == 0)
                }
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 20...100, using: &random)))
        }
    }

    private func sharedNotes() async throws -> [LocalID] {
        try await store.objects(KintoNote.self).all().filter { !$0.tag.hasPrefix("x") }.map(\.localID)
    }

    /// Inserts notes, some of them with new topics.
    ///
    /// - Returns: The notes that only this device edits.
    private func insert(_ numbers: Range<Int>) async throws -> [LocalID] {
        let device = number
        let notes = try await store.write { tx in
            try numbers.map { number in
                let tag = "\(number % 5 == 0 ? "x" : "w")\(device)-\(number)"
                let topic = number % 20 == 0 ? Reference(try tx.insert(KintoTopic(name: tag))) : nil
                return try tx.insert(KintoNote(tag: tag, title: tag, topic: topic))
            }
        }
        for note in notes { try KintoPeerMain.say("act", Act(act: "insert", tag: note.tag)) }
        return notes.filter { $0.tag.hasPrefix("x") }.map(\.localID)
    }

    private func delete(_ id: LocalID) async throws {
        let tag = try await store.write { tx in
            let note = try tx.object(ofType: KintoNote.self, forPrimaryKey: id)
            try tx.delete(KintoNote.self, localID: id)
            return note?.tag
        }
        if let tag { try KintoPeerMain.say("act", Act(act: "delete", tag: tag)) }
    }

    private func edit(_ id: LocalID, retitles: Bool) async throws {
        let device = number
        let act = try await store.write { tx -> Act? in
            guard try tx.object(ofType: KintoNote.self, forPrimaryKey: id) != nil else { return nil }
            var value = 0
            let note = try tx.update(KintoNote.self, localID: id) { note in
                value = try note.increment(device)
                if retitles { note.title = "\(note.tag) by \(device)" }
            }
            return Act(act: "set", tag: note.tag, member: "c\(device)", value: value)
        }
        if let act { try KintoPeerMain.say("act", act) }
    }
}
