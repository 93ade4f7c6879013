import Foundation

/// The operations that are sent automatically, each with the time of its last change. Comparing marks shows whether new
/// changes exist. Attempts and their outcomes do not change a mark.
package struct OperationMarks: Hashable, Sendable {
    package struct Mark: Hashable, Sendable {
        package let id: PendingOperation.ID
        let kind: PendingOperation.Kind
        let changedAt: TimeInterval

        init(id: PendingOperation.ID, kind: PendingOperation.Kind, changedAt: TimeInterval) {
            (self.id, self.kind, self.changedAt) = (id, kind, changedAt)
        }

        /// Creates the mark of an operation's current state.
        package init(_ operation: PendingOperation) {
            self.init(
                id: operation.id, kind: operation.kind,
                changedAt: operation.changedAt.timeIntervalSinceReferenceDate)
        }
    }

    /// The marks in the order of the queue.
    private var marks: [Mark]

    /// - Parameter marks: The marks in the order of the queue.
    package init(_ marks: [Mark] = []) {
        self.marks = marks
    }

    /// Returns whether the marks contain an operation.
    package func has(_ id: PendingOperation.ID) -> Bool { marks.contains { $0.id == id } }

    /// Returns whether these marks contain one that earlier marks do not.
    ///
    /// - Complexity: O(*n*) in both numbers of operations.
    package func hasNews(since earlier: OperationMarks) -> Bool {
        !news(since: earlier, atMost: 1).isEmpty
    }

    /// Returns the marks that earlier marks do not contain.
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

    /// Removes some operations, so that they count as new if they appear again.
    package mutating func forget(_ ids: Set<PendingOperation.ID>) {
        marks.removeAll { ids.contains($0.id) }
    }

    /// Removes the marks that later marks do not contain.
    package mutating func retain(_ later: OperationMarks) {
        let present = Set(later.marks)
        marks.removeAll { !present.contains($0) }
    }
}

extension ReadTransaction {
    /// Returns the marks of the operations that are sent automatically.
    ///
    /// - Complexity: O(*n*) in the number of operations. Their changes are not read.
    package func operationMarks() throws -> OperationMarks {
        let marks = try connectionForReading(searching: false).rows(
            "SELECT \"id\", \"kind\", \"changedAt\" FROM \"__operations\" WHERE \"state\" <= 1 ORDER BY \"id\""
        ) { row in
            PendingOperation.Kind(rawValue: Int(row.integer(1))).map { kind in
                OperationMarks.Mark(id: row.integer(0), kind: kind, changedAt: row.real(2))
            }
        }
        return OperationMarks(marks.compactMap(\.self))
    }
}
