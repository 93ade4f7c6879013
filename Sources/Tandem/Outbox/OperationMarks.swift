import Foundation

/// The operations that are sent by themselves, and how new each is: by this it is known whether there is anything that
/// was not there before. Tries, and what becomes of them, leave a mark as it is.
package struct OperationMarks: Hashable, Sendable {
    package struct Mark: Hashable, Sendable {
        package let id: Operation.ID
        let kind: Operation.Kind
        let changedAt: TimeInterval

        init(id: Operation.ID, kind: Operation.Kind, changedAt: TimeInterval) {
            (self.id, self.kind, self.changedAt) = (id, kind, changedAt)
        }

        /// The mark of an operation as it is.
        package init(_ operation: Operation) {
            self.init(
                id: operation.id, kind: operation.kind,
                changedAt: operation.changedAt.timeIntervalSinceReferenceDate)
        }
    }

    /// In the order of the queue.
    private var marks: [Mark] = []

    package init() {}

    /// - Parameter operations: In the order of the queue.
    package init(_ operations: some Sequence<Operation>) {
        for operation in operations where operation.state == .pending || operation.state == .attempted {
            marks.append(Mark(operation))
        }
    }

    mutating func add(_ id: Operation.ID, _ kind: Operation.Kind, _ changedAt: TimeInterval) {
        marks.append(Mark(id: id, kind: kind, changedAt: changedAt))
    }

    /// Whether an operation is among them.
    package func has(_ id: Operation.ID) -> Bool { marks.contains { $0.id == id } }

    /// Whether there is something here that is not in earlier marks.
    ///
    /// - Complexity: O(*n*) in both numbers of operations.
    package func hasNews(since earlier: OperationMarks) -> Bool {
        !news(since: earlier, atMost: 1).isEmpty
    }

    /// What is here and not in earlier marks.
    ///
    /// - Complexity: O(*n*) in both numbers of operations.
    package func news(since earlier: OperationMarks, atMost limit: Int = .max) -> [Mark] {
        var (place, news) = (earlier.marks.startIndex, [Mark]())
        for mark in marks where news.count < limit {
            while place < earlier.marks.endIndex, earlier.marks[place].id < mark.id { place += 1 }
            if place == earlier.marks.endIndex || earlier.marks[place] != mark { news.append(mark) }
        }
        return news
    }

    /// Forgets some operations: they are new when they are there again.
    package mutating func forget(_ ids: Set<Operation.ID>) {
        marks.removeAll { ids.contains($0.id) }
    }

    /// Forgets what later marks do not have.
    package mutating func keep(_ later: OperationMarks) {
        let present = Set(later.marks)
        marks.removeAll { !present.contains($0) }
    }
}

extension ReadTransaction {
    /// The operations that are sent by themselves.
    ///
    /// - Complexity: O(*n*) in the number of operations; their changes are not read.
    package func operationMarks() throws -> OperationMarks {
        let statement = try connectionForReading(searching: false).statement(
            "SELECT \"id\", \"kind\", \"changedAt\" FROM \"__operations\" WHERE \"state\" <= 1 ORDER BY \"id\"")
        defer { statement.reset() }
        var marks = OperationMarks()
        while try statement.step() {
            guard let kind = Operation.Kind(rawValue: Int(statement.integer(1))) else { continue }
            marks.add(statement.integer(0), kind, statement.real(2))
        }
        return marks
    }
}
