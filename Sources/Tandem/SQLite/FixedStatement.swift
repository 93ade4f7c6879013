/// The statements of one part of the store that every transaction or every change runs.
///
/// A connection finds them by index: hashing a statement's text costs a tenth of an insert.
protocol FixedStatement: CaseIterable, RawRepresentable<Int> {
    var sql: String { get }
}

/// A connection's prepared statements of one part of the store.
final class FixedStatements<Kind: FixedStatement>: ConnectionCache {
    fileprivate var statements = [Statement?](repeating: nil, count: Kind.allCases.count)
}

extension Connection {
    /// Returns a statement without a look-up by its text. It is prepared at its first use.
    ///
    /// The connection owns the statement, as those of ``statement(_:)-(String)``.
    @inline(__always)
    func statement<Kind: FixedStatement>(_ fixed: Kind) throws -> Statement {
        let known = cache(FixedStatements<Kind>.self)
        if let statement = known.statements[fixed.rawValue] { return statement }
        let statement = try Statement(fixed.sql, on: self)
        known.statements[fixed.rawValue] = statement
        return statement
    }

    /// Returns the first column of a statement's first row.
    func value(_ fixed: some FixedStatement) throws -> StorageValue? {
        let statement = try statement(fixed)
        defer { statement.reset() }
        return try statement.step() ? statement.value(0) : nil
    }
}
