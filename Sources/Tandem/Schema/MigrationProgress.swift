/// How far the migration of a store is: see ``Store/Configuration/onMigrationProgress``.
public struct MigrationProgress: Hashable, Sendable {
    /// What the migration does.
    public enum Work: Hashable, Sendable {
        /// Writes the rows of a table anew.
        case rows
        /// Goes through old and new objects, as a step asks.
        case objects
    }

    /// The model's name.
    public let model: String
    public let work: Work
    /// The number of objects that are done.
    public let completed: Int
    /// The number of objects in all.
    public let total: Int
}

extension MigrationProgress {
    /// Counts a migration's rows, tells of each thousandth, and ends the migration when its task is cancelled.
    struct Counter {
        let connection: Connection
        let report: (@Sendable (MigrationProgress) throws -> Void)?
        let model: String
        let work: Work
        let total: Int
        private var completed = 0

        init(
            _ connection: Connection, _ report: (@Sendable (MigrationProgress) throws -> Void)?, model: String,
            _ work: Work, table: String
        ) throws {
            self.connection = connection
            self.report = report
            self.model = model
            self.work = work
            if report != nil,
                case .integer(let count)? = try connection.value("SELECT count(*) FROM \(table.quotedSQL)")
            {
                total = Int(count)
            } else {
                total = 0
            }
            try tell()
        }

        /// One more row is about to be done.
        mutating func advance() throws {
            if completed > 0, completed % 1000 == 0 { try tell() }
            completed += 1
        }

        /// All rows are done.
        func finish() throws {
            if completed > 0 { try tell() }
        }

        private func tell() throws {
            if Task.isCancelled || connection.mustStop.isSet { throw CancellationError() }
            try report?(MigrationProgress(model: model, work: work, completed: completed, total: max(total, completed)))
        }
    }
}
