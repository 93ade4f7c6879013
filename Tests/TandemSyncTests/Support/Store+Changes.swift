@testable import Tandem

extension Store {
    /// Returns the number of rows ever written, including those of Tandem's own tables.
    func totalChanges() throws -> Int64 {
        try write { $0.connection.totalChanges }
    }
}
