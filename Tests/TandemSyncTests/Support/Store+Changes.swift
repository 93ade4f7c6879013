@testable import Tandem

extension Store {
    /// How many rows were ever written, those of the tables that Tandem keeps for itself included.
    func totalChanges() throws -> Int64 {
        try write { $0.connection.totalChanges }
    }
}
