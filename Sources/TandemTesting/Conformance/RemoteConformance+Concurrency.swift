import Tandem
import TandemSync

extension RemoteConformance {
    static let concurrencyRequirements: [Requirement] = [
        Requirement(remote: "concurrent calls do not affect each other") { tested in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 as Range<Int64> {
                    group.addTask {
                        let item = try await tested.insert([("points", .integer(number))])
                        try item.expectMembers([("points", .integer(number))])
                        let updated = try await tested.update(item, setting: [("points", .integer(number + 100))])
                        try updated.expectMembers([("points", .integer(number + 100))])
                        guard number.isMultiple(of: 2) else { return }
                        try await tested.delete(updated)
                        try await tested.expectDeleted(updated.id)
                    }
                }
                try await group.waitForAll()
            }
        },
        Requirement(remote: "exactly one of several concurrent updates of a version succeeds") { tested in
            try tested.requireVersions()
            let item = try await tested.insert([("points", .integer(0))])
            let winners = try await withThrowingTaskGroup(of: Int64?.self) { group in
                for number in 1...6 as ClosedRange<Int64> {
                    group.addTask {
                        do {
                            _ = try await tested.remote.update(
                                tested.change(item, setting: [("points", .integer(number))]))
                            return number
                        } catch RemoteFailure.conflict {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: [Int64]()) { winners, number in
                    if let number { winners.append(number) }
                }
            }
            try expect(winners.count == 1, or: "\(winners.count) updates succeeded")
            try (try await tested.current(item.id)).expectMembers([("points", .integer(winners[0]))])
        },
        Requirement(remote: "exactly one of several concurrent inserts with the same ID succeeds") { tested in
            try tested.requireChosenIDs()
            let item = tested.newItem([("points", .integer(1))])
            let id = try unwrap(item.id, or: "the item has no ID")
            let successes = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        do {
                            _ = try await tested.remote.insert(item)
                            return 1
                        } catch RemoteFailure.conflict {
                            return 0
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            try expect(successes == 1, or: "\(successes) inserts succeeded")
            try (try await tested.current(id)).expectMembers(item.members)
        },
        Requirement(remote: "a cancelled write ends, and its failure says whether the server may have acted") {
            tested in
            for delay in 0..<8 {
                let item = tested.newItem()
                let task = Task { () async -> RemoteFailure? in
                    if delay == 0 { withUnsafeCurrentTask { $0?.cancel() } }
                    do throws(RemoteFailure) {
                        _ = try await tested.remote.insert(item)
                        return nil
                    } catch {
                        return error
                    }
                }
                for _ in 0..<delay { await Task.yield() }
                task.cancel()
                let failure = await task.value
                if let failure { try expect(failure.isCancellation, or: "it failed with \(failure)") }
                guard let id = item.id else { continue }
                if let failure {
                    guard !failure.mayHaveActed else { continue }
                    try expect(try await tested.find(id) == nil, or: "the item exists, although it was not sent")
                } else {
                    try (try await tested.current(id)).expectMembers(item.members)
                }
            }
        },
        Requirement(remote: "a cancelled read ends with its result or a cancellation") { tested in
            let item = try await tested.insert()
            for delay in 0..<8 {
                let task = Task { () async throws -> RemoteItem? in
                    if delay == 0 { withUnsafeCurrentTask { $0?.cancel() } }
                    let found = try await tested.find(item.id)
                    _ = try await tested.page(.id(after: nil), top: 1)
                    return found
                }
                for _ in 0..<delay { await Task.yield() }
                task.cancel()
                do {
                    let found = try await task.value
                    try expect(found?.isSame(as: item) == true, or: "another item is found, or none")
                } catch let failure as RemoteFailure {
                    try expect(failure.isCancellation, or: "it failed with \(failure)")
                }
            }
        },
    ]
}
