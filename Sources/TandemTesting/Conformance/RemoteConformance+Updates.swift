import Tandem
import TandemSync

extension RemoteConformance {
    static let updateRequirements: [Requirement] = [
        Requirement(remote: "an update changes the changed members and keeps the others") { tested in
            let item = try await tested.insert([("points", .integer(1)), ("note", .text("чек"))])
            let title = TestedRemote.newText("Магнит")
            let response = try await tested.remote.update(tested.change(item, setting: [("title", .text(title))]))
            let found = try await tested.current(item.id)
            if let returned = response.item {
                try expect(returned.isSame(as: found), or: "the response has another item")
            }
            try found.expectMembers([("title", .text(title)), ("points", .integer(1)), ("note", .text("чек"))])
        },
        Requirement(remote: "an update keeps members that the model does not have") { tested in
            let item = try await tested.insert([("points", .integer(1)), ("extra", .text("неизвестно"))])
            let change = tested.change(item, setting: [("points", .integer(2))])
            try expect(change.unknown.contains { $0.key == "extra" }, or: "the member is missing after the insert")
            _ = try await tested.remote.update(change)
            try (try await tested.current(item.id)).expectMembers([
                ("points", .integer(2)), ("extra", .text("неизвестно")),
            ])
        },
        Requirement(remote: "an update with an older version is a conflict with the server's item") { tested in
            try tested.requireVersions()
            let old = try await tested.insert([("points", .integer(1))])
            let current = try await tested.update(old, setting: [("points", .integer(2))])
            let failure = try await failing("an update with an older version") {
                _ = try await tested.remote.update(tested.change(old, setting: [("points", .integer(3))]))
            }
            try await tested.expectConflict(failure, with: old.id)
            try await tested.expectUnchanged(current)
        },
        Requirement(remote: "an update without a version overwrites any version") { tested in
            let old = try await tested.insert([("points", .integer(1))])
            try await tested.update(old, setting: [("points", .integer(2))])
            var change = tested.change(old, setting: [("points", .integer(3))])
            change.version = nil
            _ = try await tested.remote.update(change)
            try (try await tested.current(old.id)).expectMembers([("points", .integer(3))])
        },
        Requirement(remote: "an update of a deleted item fails and does not restore it") { tested in
            let item = try await tested.insert([("points", .integer(1))])
            try await tested.delete(item)
            var changes = [tested.change(item, setting: [("points", .integer(2))])]
            if tested.features.table.versions {
                var unconditional = changes[0]
                unconditional.version = nil
                changes.append(unconditional)
            }
            for change in changes {
                switch try await failing("an update", body: { _ = try await tested.remote.update(change) }) {
                case .gone, .notFound: break
                case let failure: try await tested.expectConflict(failure, with: item.id, hasItem: false)
                }
                try await tested.expectDeleted(item.id)
            }
        },
        Requirement(remote: "an update or a delete of an unknown item reports that the item does not exist") { tested in
            let item = RemoteItem(id: TestedRemote.newID(), members: [("title", .text("Лента"))])
            let change = tested.change(item, setting: [("title", .text("Магнит"))])
            for kind in [RemoteRequest.Kind.update, .delete] {
                let failure = try await failing("the \(kind) of an unknown item") {
                    _ = try await tested.send(RemoteRequest(kind, item: change))
                }
                try expect(failure.meansMissing, or: "the \(kind) failed with \(failure)")
                try expect(try await tested.find(item.id) == nil, or: "the \(kind) created the item")
            }
        },
    ]
}

extension TestedRemote {
    /// Sends a write as a request of its own.
    func send(_ request: RemoteRequest) async throws(RemoteFailure) -> RemoteResponse {
        switch request.kind {
        case .insert: try await remote.insert(request.item)
        case .update: try await remote.update(request.item)
        case .delete: try await remote.delete(request.item)
        case .undelete: try await remote.undelete(request.item)
        }
    }
}

extension RemoteFailure {
    /// Whether the item does not exist or is deleted.
    var meansMissing: Bool {
        switch self {
        case .gone, .notFound: true
        default: false
        }
    }
}
