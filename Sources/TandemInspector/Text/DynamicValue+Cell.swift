import Tandem

extension DynamicValue {
    /// The value in a cell of a table. Nil is empty, and an empty text is two quotes.
    package var cell: String {
        switch self {
        case .null: ""
        case .string(let text): text.isEmpty ? "\"\"" : text
        case .data(let data): "\(data.count) bytes"
        case .date: Self.shortDate(description)
        case .attachment(let file): Self.short(file)
        case .attachments(let files): files.map(Self.short).joined(separator: ", ")
        default: description
        }
    }

    /// Returns the text of a date without the fraction of a second, if that is zero.
    private static func shortDate(_ date: String) -> String {
        date.hasSuffix(".000Z") ? String(date.dropLast(5)) + "Z" : date
    }

    private static func short(_ file: Attachment) -> String {
        file.name + (file.size.map { " (\($0) bytes)" } ?? "")
    }
}
