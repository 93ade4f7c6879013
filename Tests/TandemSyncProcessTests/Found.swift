import Foundation
import Tandem
import TandemServerCore
import TandemSyncTestScript

/// An object of a store or a server, in the form of a ``PeerTruth``.
struct Found: Hashable {
    let serverID: String
    let tag: String
    let values: [String: String]

    /// Returns the live objects of a server.
    static func on(_ rows: [ServerRow]) -> [Found] {
        let live = rows.filter { !$0.deleted }
        let tags = Dictionary(live.map { ($0.id, text($0, "tag")) }, uniquingKeysWith: { first, _ in first })
        return live.map { row in
            let values =
                row.table == "todo"
                ? [
                    "title": text(row, "title"), "isDone": text(row, "isDone"), "points": text(row, "points"),
                    "due": date(row.members["due"]), "keeper": tags[text(row, "keeper")] ?? "",
                ]
                : [
                    "name": text(row, "name"),
                    "todos": PeerText.of(tags: list(row.members["todos"]).compactMap { tags[$0] }),
                ]
            return Found(serverID: row.id, tag: text(row, "tag"), values: values)
        }.sorted { $0.tag < $1.tag }
    }

    /// Returns the objects of a store.
    static func `in`(_ store: Store) throws -> [Found] {
        try store.read { tx in
            let todos = try tx.objects(ToDo.self).all().map { todo in
                Found(
                    serverID: todo.serverID?.rawValue ?? "none", tag: todo.tag,
                    values: [
                        "title": todo.title, "isDone": "\(todo.isDone)", "points": "\(todo.points)",
                        "due": PeerText.of(todo.due), "keeper": try tx.object(todo.keeper)?.tag ?? "",
                    ])
            }
            let keepers = try tx.objects(Keeper.self).all().map { keeper in
                Found(
                    serverID: keeper.serverID?.rawValue ?? "none", tag: keeper.tag,
                    values: [
                        "name": PeerText.of(keeper.name),
                        "todos": PeerText.of(tags: try tx.objects(keeper.todos).map(\.tag)),
                    ])
            }
            return (todos + keepers).sorted { $0.tag < $1.tag }
        }
    }

    private static func text(_ row: ServerRow, _ name: String) -> String {
        switch row.members[name] {
        case .text(let text)?: text
        case .number(let digits)?: digits
        case .bool(let bool)?: "\(bool)"
        default: "nil"
        }
    }

    /// Returns a list of IDs, which is sent as its text.
    private static func list(_ value: JSONValue?) -> [String] {
        guard case .text(let json)? = value else { return [] }
        return (try? JSONDecoder().decode([String].self, from: Data(json.utf8))) ?? []
    }

    private static func date(_ value: JSONValue?) -> String {
        guard case .text(let text)? = value else { return PeerText.of(nil as Date?) }
        return PeerText.of(try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }
}
