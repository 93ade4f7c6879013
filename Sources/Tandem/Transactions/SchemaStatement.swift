/// The statements that detect a change of the schema by another process.
enum SchemaStatement: Int, FixedStatement {
    case dataVersion
    case stamp

    var sql: String {
        switch self {
        case .dataVersion: "PRAGMA data_version"
        case .stamp: "SELECT \"value\" FROM \"__settings\" WHERE \"key\" = 'schemaStamp'"
        }
    }
}
