import Foundation
import Synchronization

/// The monitors of this process for the same store, which several `Store`s may have open.
///
/// File locks belong to a process, so they can't show whether a neighbor is in a transaction. Each neighbor notifies
/// the others of its commits instead.
final class StoreInstances: Sendable {
    /// The identity of a file, which may have many paths.
    private struct File: Hashable {
        let device: UInt64
        let number: UInt64

        init?(_ path: String) {
            var info = stat()
            guard stat(path, &info) == 0 else { return nil }
            device = UInt64(truncatingIfNeeded: info.st_dev)
            number = UInt64(truncatingIfNeeded: info.st_ino)
        }
    }

    private struct Entry {
        weak var instances: StoreInstances?
    }

    private struct Members {
        var next = 0
        var wake: [Int: @Sendable () -> Void] = [:]
    }

    private static let all = Mutex<[File: Entry]>([:])

    private let file: File?
    private let members = Mutex(Members())
    private let count = Atomic<Int>(0)

    private init(_ file: File?) { self.file = file }

    /// Returns the neighbors of the store at a path.
    static func of(_ path: String) -> StoreInstances {
        guard let file = File(path) else { return StoreInstances(nil) }
        return all.withLock { all in
            if let there = all[file]?.instances { return there }
            let new = StoreInstances(file)
            all[file] = Entry(instances: new)
            return new
        }
    }

    deinit {
        guard let file else { return }
        // Another object may have replaced this one. It is released outside the lock, because that may free it.
        _ = Self.all.withLock { all -> StoreInstances? in
            let other = all[file]?.instances
            if other == nil { all[file] = nil }
            return other
        }
    }

    func join(_ wake: @escaping @Sendable () -> Void) -> Int {
        members.withLock { members in
            members.next += 1
            members.wake[members.next] = wake
            count.store(members.wake.count, ordering: .sequentiallyConsistent)
            return members.next
        }
    }

    func leave(_ member: Int) {
        members.withLock { members in
            members.wake[member] = nil
            count.store(members.wake.count, ordering: .sequentiallyConsistent)
        }
    }

    /// Wakes all members except one.
    func wake(except member: Int?) {
        guard count.load(ordering: .sequentiallyConsistent) > (member == nil ? 0 : 1) else { return }
        for (other, wake) in members.withLock({ $0.wake }) where other != member { wake() }
    }
}
