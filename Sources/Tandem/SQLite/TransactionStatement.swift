/// The statements that begin and end a transaction.
enum TransactionStatement: Int, FixedStatement {
    case begin
    case commit
    case rollback
    case emptyWrite

    var sql: String {
        switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .emptyWrite: "DELETE FROM \"__settings\" WHERE 0"
        }
    }
}
