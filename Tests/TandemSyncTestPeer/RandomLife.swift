import Foundation
import Tandem
import TandemSync
import TandemSyncTestScript
import TandemTesting

/// A life of a peer that makes random edits, and concurrently synchronizes, without end.
struct RandomLife: Sendable {
    let store: Store
    let line: SyncPeer.Line
    /// The name of the life, which is the prefix of its objects' tags. Each life has another one.
    let name: String
    /// The prefix of its objects' tags in all lives.
    private let family: String

    /// - Parameter name: The name of the life. For example, `A-7` is the seventh life of A.
    init(_ store: Store, _ line: SyncPeer.Line, name: String) {
        self.store = store
        self.line = line
        self.name = name
        family = String(name.prefix { $0 != "-" }) + "-"
    }

    func run() async throws {
        SyncPeerMain.say("ready")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await edit() }
            group.addTask { try await synchronize() }
            try await group.next()
        }
    }

    // MARK: Synchronizing

    private func synchronize() async throws {
        let context = try line.context(store) { step in
            switch step {
            case .began(let id): SyncPeerMain.say("sending \(id) \(PeerExchange.now)")
            case .concluded(let id): SyncPeerMain.say("sent \(id) \(PeerExchange.now)")
            default: break
            }
        }
        let report = SyncReport()
        try await report.synchronizeForEver(context)
    }

    // MARK: Editing

    private func edit() async throws {
        var number = 0
        while true {
            // A queue that only grows would never be empty at a kill.
            while try store.operations.count() > 40 { try await Task.sleep(for: .milliseconds(10)) }
            number += 1
            try await act(number)
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...20)))
        }
    }

    private func act(_ number: Int) async throws {
        let tag = "\(name)-\(number)"
        let family = family
        try await store.write { tx in
            let todos = try tx.objects(ToDo.self).all()
            let keepers = try tx.objects(Keeper.self).all()
            let snapshot = ToDoSnapshot(
                todos: todos, keepers: keepers, ownToDos: todos.filter { $0.tag.hasPrefix(family) },
                ownKeepers: keepers.filter { $0.tag.hasPrefix(family) })
            try snapshot.act(tag, tx)
        }
        SyncPeerMain.say("ack")
    }
}

/// The state from which a random edit is chosen. A peer changes its own objects, and may refer to all objects.
private struct ToDoSnapshot {
    let todos: [ToDo]
    let keepers: [Keeper]
    let ownToDos: [ToDo]
    let ownKeepers: [Keeper]

    func act(_ tag: String, _ tx: WriteTransaction) throws {
        let choice = Int.random(in: 0..<100)
        guard let todo = ownToDos.randomElement(), choice >= 25 || ownToDos.count > 40 else {
            return try insertToDo(tag, tx)
        }
        guard let keeper = ownKeepers.randomElement(), choice >= 35 || ownKeepers.count > 15 else {
            return try insertKeeper(tag, tx)
        }
        switch choice {
        case 90..<92:
            try say(.delete, "Keeper", keeper.tag)
            try tx.delete(keeper)
        case 92...:
            try say(.delete, "ToDo", todo.tag)
            try tx.delete(todo)
        case 80..<90: try edit(keeper, tx)
        default: try edit(todo, tx)
        }
    }

    private func insertToDo(_ tag: String, _ tx: WriteTransaction) throws {
        let (title, points, due) = (Self.text(), Int.random(in: 0...9), Self.date())
        let keeper = Bool.random() ? keepers.randomElement() : nil
        let values = [
            "title": title, "isDone": "false", "points": "\(points)", "due": PeerText.of(due),
            "keeper": keeper?.tag ?? "",
        ]
        try say(.insert, "ToDo", tag, values)
        try tx.insert(ToDo(tag: tag, title: title, points: points, due: due, keeper: keeper?.reference))
    }

    private func insertKeeper(_ tag: String, _ tx: WriteTransaction) throws {
        let (name, some) = (Self.text(), someToDos())
        try say(.insert, "Keeper", tag, ["name": name, "todos": PeerText.of(tags: some.map(\.tag))])
        try tx.insert(Keeper(tag: tag, name: name, todos: some.map(\.reference)))
    }

    private func edit(_ keeper: Keeper, _ tx: WriteTransaction) throws {
        let (name, some) = (Self.text(), someToDos())
        try say(.edit, "Keeper", keeper.tag, ["name": name, "todos": PeerText.of(tags: some.map(\.tag))])
        try tx.update(Keeper.self, localID: keeper.localID) { ($0.name, $0.todos) = (name, some.map(\.reference)) }
    }

    private func edit(_ todo: ToDo, _ tx: WriteTransaction) throws {
        switch Int.random(in: 0..<3) {
        case 0:
            let keeper = keepers.randomElement()
            try say(.edit, "ToDo", todo.tag, ["keeper": keeper?.tag ?? ""])
            try tx.update(ToDo.self, localID: todo.localID) { $0.keeper = keeper?.reference }
        case 1:
            let (title, points) = (Self.text(), Int.random(in: 0...9))
            try say(.edit, "ToDo", todo.tag, ["title": title, "points": "\(points)"])
            try tx.update(ToDo.self, localID: todo.localID) { ($0.title, $0.points) = (title, points) }
        default:
            let (isDone, due) = (Bool.random(), Self.date())
            try say(.edit, "ToDo", todo.tag, ["isDone": "\(isDone)", "due": PeerText.of(due)])
            try tx.update(ToDo.self, localID: todo.localID) { ($0.isDone, $0.due) = (isDone, due) }
        }
    }

    private func someToDos() -> [ToDo] { Array(todos.shuffled().prefix(Int.random(in: 0...3))) }

    private func say(_ kind: PeerAct.Kind, _ model: String, _ tag: String, _ values: [String: String] = [:]) throws {
        SyncPeerMain.say("try " + (try PeerAct(kind, model, tag, values).line()))
    }

    private static func text() -> String {
        ["Лента", "Перекрёсток", "İstanbul", "ქართული", "", "カード", "a'b\"c\\"].randomElement() ?? ""
    }

    /// Whole milliseconds, which the wire preserves.
    private static func date() -> Date? {
        [nil, Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1_795_000_000.003)].randomElement() ?? nil
    }
}
