import Dispatch
import Synchronization
import Tandem

/// Prints the change sets of a live query, and lets a thread wait for the end.
final class ChangePrinter: Sendable {
    private struct State {
        var commits = 0
        var isOver = false
        var error: (any Error)?

        /// Counts a change set, and returns whether the limit is reached.
        mutating func count(upTo limit: Int?) -> Bool {
            commits += 1
            return limit.map { commits >= $0 } ?? false
        }
    }

    private let name: String
    private let printsInitial: Bool
    private let limit: Int?
    private let isJSON: Bool
    private let console: Console
    private let state = Mutex(State())
    private let isOver = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - name: The name of the model.
    ///   - printsInitial: Whether the first objects are printed as insertions.
    ///   - limit: The number of change sets after which the end is reached; nil for no limit.
    ///   - isJSON: Whether the lines are JSON.
    ///   - console: The output.
    init(name: String, printsInitial: Bool, limit: Int?, isJSON: Bool, console: Console) {
        self.name = name
        self.printsInitial = printsInitial
        self.limit = limit
        self.isJSON = isJSON
        self.console = console
    }

    /// Prints the changes of a commit.
    func print(_ changes: ChangeSet<DynamicObject>) {
        guard !state.withLock({ $0.isOver }) else { return }
        do {
            if changes.isInitial {
                // It tells a person, and a script, that later changes are not missed.
                console.report("Watching \(changes.results.count) objects of \(name).".printable)
                if printsInitial { try write(changes) }
            } else {
                try write(changes)
                if state.withLock({ $0.count(upTo: limit) }) { end(nil) }
            }
        } catch {
            end(error)
        }
    }

    private func write(_ changes: ChangeSet<DynamicObject>) throws {
        let moved = Set(changes.moves.map(\.to))
        var lines = changes.deleted.map { isJSON ? json($0, change: "deletion") : "- \($0.localID)" }
        lines += changes.insertions.lazy.filter { !moved.contains($0) }.map { index in
            let object = changes.results[index]
            return self.isJSON ? self.json(object, change: "insertion") : "+ \(object.localID)  \(Self.summary(object))"
        }
        lines += changes.modifications.map { modified(from: changes.oldValue(of: $0), to: changes.newValue(of: $0)) }
        lines += changes.moves.map { modified(from: changes.oldValue(of: $0), to: changes.newValue(of: $0)) }
        guard !lines.isEmpty else { return }
        try console.write(lines.map { (isJSON ? $0 : $0.printable) + "\n" }.joined())
    }

    private func json(_ object: DynamicObject, change: String) -> String {
        JSONOutput.object([
            ("change", .text(change)), ("isSynced", .bool(object.isSynced)), ("object", .raw(object.json)),
        ]).rendered
    }

    private func modified(from old: DynamicObject, to new: DynamicObject) -> String {
        if isJSON { return json(new, change: "modification") }
        let columns = ObjectColumn.all(of: new.model, states: ObjectColumn.State.allCases)
        let parts = columns.compactMap { column -> String? in
            let (before, after) = (column.value(of: old), column.value(of: new))
            return before == after ? nil : "\(column.title): \(Self.short(before)) → \(Self.short(after))"
        }
        return "~ \(new.localID)  \(parts.joined(separator: ", "))"
    }

    private static func summary(_ object: DynamicObject) -> String {
        object.values.filter { !$0.value.isNull }.map { "\($0.property.name): \(short($0.value))" }
            .joined(separator: ", ")
    }

    private static func short(_ value: DynamicValue) -> String {
        value.isNull ? "nil" : value.cell.cut(toColumns: 60)
    }

    /// Ends the output.
    ///
    /// - Parameter error: The reason, or nil.
    func end(_ error: (any Error)?) {
        let isFirst = state.withLock { state in
            guard !state.isOver else { return false }
            state.isOver = true
            state.error = error
            return true
        }
        if isFirst { isOver.signal() }
    }

    /// Waits until the output ends.
    func wait() { isOver.wait() }

    /// Throws the error that ended the output.
    func finish() throws {
        if let error = state.withLock({ $0.error }) { throw error }
    }
}
