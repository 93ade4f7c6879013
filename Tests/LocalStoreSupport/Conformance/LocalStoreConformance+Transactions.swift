import Foundation
import Tandem
import TandemSync

extension LocalStoreConformance {
    struct Undone: Error {}

    static let transactionRequirements: [Requirement] = [
        Requirement("the store has the models' tables") { bench in
            try expect(
                Set(bench.store.models.map(\.table)) == [modelTable, parts],
                "the tables are \(bench.store.models.map(\.table))")
            try expect(!bench.store.lockName.isEmpty, "the lock has no name")
        },
        Requirement("a write block that throws leaves no changes") { bench in
            try await bench.write { local in
                try local.syncedModel("s")
                try local.edit("s", ["count": 1])
            }
            do {
                try await bench.write { local in
                    try local.insertModel("t")
                    try local.edit("s", ["name": "m"])
                    try local.delete("s")
                    _ = try local.applyServerItem(.modelItem("r"), in: modelTable, identity: .client)
                    try local.setSyncToken(SyncToken(digest: [1]), of: "q", in: modelTable)
                    try local.setSyncSetting(.user, to: "u")
                    throw Undone()
                }
                try expect(false, "the block's error was swallowed")
            } catch is Undone {}
            try await bench.read { local in
                try expect(try local.localIDs(in: modelTable) == ["s"], "objects were left")
                try expect(
                    try local.op("s").kind == .update && local.op("s").changedProperties == ["count"],
                    "the operation was left changed")
                try expect(try local.isThere("s") && local.value("name", of: "s") == "n", "a change was left")
                try expect(
                    try local.syncToken(of: "q", in: modelTable) == nil && local.syncSetting(.user) == nil,
                    "the state of sync was left")
            }
        },
        Requirement("a read sees all earlier writes") { bench in
            for number in 0..<5 {
                try await bench.write { try $0.insertModel(LocalID("t\(number)")) }
                let count = try await bench.read { try $0.countOfOperations() }
                try expect(count == number + 1, "\(count) operations were seen of \(number + 1)")
            }
        },
        Requirement("writes are serialized") { bench in
            try await bench.write { try $0.insertModel("t") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await bench.write { local in
                            guard case .integer(let count)? = try local.value("count", of: "t") else { return }
                            try local.edit("t", ["count": .integer(count + 1)])
                        }
                    }
                }
                try await group.waitForAll()
            }
            try expect(try await bench.read { try $0.value("count", of: "t") } == 20, "a write was lost")
        },
        Requirement("a call that throws changes nothing if its block continues") { bench in
            try await bench.write { local in
                try local.insertModel("a", ["code": "x"])
                try expect(.duplicateValue, "a second unique value") { try local.insertModel("b", ["code": "x"]) }
                try local.insertModel("b", ["code": "y"])
                try expect(.duplicateValue, "a change to it") { try local.edit("b", ["code": "x", "count": 5]) }
            }
            try await bench.read { local in
                try expect(try local.value("count", of: "b") == 0, "a part of a refused change was kept")
                try expect(try local.countOfOperations() == 2, "a refused insert was queued")
            }
        },
        Requirement("a write continues if its caller is cancelled") { bench in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await bench.write { try $0.insertModel("t") }
            }
            _ = try await task.value
            try expect(try await bench.read { try $0.hasObject("t", in: modelTable) }, "it was not written")
        },
        Requirement("a listener receives the tables with changed operations") { bench in
            var changes = bench.store.operationChanges.makeAsyncIterator()
            try await bench.write { try $0.insertModel("t") }
            var tables = try unwrap(await changes.next(), "change")
            try expect(tables.contains(modelTable), "an insert reported \(tables)")
            try await bench.write { try $0.setSyncSetting(.user, to: "u") }
            try await bench.write { try $0.part("p") }
            tables = try unwrap(await changes.next(), "change")
            try expect(tables == [parts], "writes without changed operations reported \(tables)")
            try await bench.write { local in
                let attempt = try local.send("t")
                _ = try local.acknowledge(attempt.id, attempt: 1, with: .modelItem("t"), keepsTombstones: true)
            }
            tables = try unwrap(await changes.next(), "change")
            try expect(tables == [modelTable], "a response reported \(tables)")
        },
        Requirement(
            "a table without a model is refused",
            inOne: { local in
                try expect(.unknownModel, "insert") { _ = try local.insert([:], in: "none", as: nil) }
                try expect(.unknownModel, "change") { try local.change("a", in: "none", to: [:]) }
                try expect(.unknownModel, "receive") {
                    _ = try local.applyServerItem(.modelItem("s"), in: "none", identity: .client)
                }
                try expect(.unknownModel, "syncedRows") { _ = try local.syncedRows(in: "none", where: nil) }
                try expect(.unknownModel, "removeSynced") { _ = try local.removeSynced([1], in: "none") }
                try expect(.unknownModel, "dropOperations") { _ = try local.dropOperations(in: ["none"], where: nil) }
            }),
    ]
}
