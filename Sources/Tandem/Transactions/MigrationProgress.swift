/// The progress of a store's migration: see ``Store/Configuration/onMigrationProgress``.
public struct MigrationProgress: Hashable, Sendable {
    /// A phase of the migration.
    public enum Work: Hashable, Sendable {
        /// The rows of a table are rewritten.
        case rows
        /// Old and new objects are enumerated for a step.
        case objects
    }

    /// The model's name.
    public let model: String
    /// The current phase.
    public let work: Work
    /// The number of processed objects.
    public let completed: Int
    /// The total number of objects.
    public let total: Int
}

extension MigrationProgress {
    /// A counter of a migration's rows. It reports each thousandth row, and ends the migration if its task is
    /// cancelled.
    struct Counter {
        let connection: Connection
        let report: (@Sendable (MigrationProgress) throws -> Void)?
        let model: String
        let work: Work
        let total: Int
        private var completed = 0

        init(
            _ connection: Connection, report: (@Sendable (MigrationProgress) throws -> Void)?, model: String,
            work: Work, table: String
        ) throws {
            self.connection = connection
            self.report = report
            self.model = model
            self.work = work
            total = report == nil ? 0 : try connection.count("SELECT count(*) FROM \(table.quotedSQL)")
            try publish()
        }

        /// Counts the next row, before it is processed.
        mutating func advance() throws {
            if completed > 0, completed % 1000 == 0 { try publish() }
            completed += 1
        }

        /// Reports the end, after all rows were processed.
        func finish() throws {
            if completed > 0 { try publish() }
        }

        private func publish() throws {
            if Task.isCancelled || connection.mustStop.isSet { throw CancellationError() }
            try report?(MigrationProgress(model: model, work: work, completed: completed, total: max(total, completed)))
        }
    }
}
