import Tandem

/// Comma-separated values as in RFC 4180, with line feeds. An empty field without quotes is nil.
enum CSVText {
    /// Returns a line for fields, with its line break.
    static func line(_ fields: [String?]) -> String {
        fields.map { $0.map(field) ?? "" }.joined(separator: ",") + "\n"
    }

    private static func field(_ text: String) -> String {
        let isPlain = !text.isEmpty && !text.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
        guard !isPlain || text.first == " " || text.last == " " else { return text }
        var quoted = "\""
        // A loop over characters would miss a quote with a combining mark.
        for scalar in text.unicodeScalars {
            if scalar == "\"" { quoted += "\"" }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    /// Returns the records of a text. Empty lines are left out.
    ///
    /// - Throws: `CommandFailure` with the line of the error.
    static func records(_ text: String) throws -> [[String?]] {
        var reader = CSVReader(text)
        var records: [[String?]] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }
}

/// Reads the records of a text.
private struct CSVReader {
    private let scalars: String.UnicodeScalarView
    private var position: String.UnicodeScalarView.Index
    private var line = 1

    init(_ text: String) {
        scalars = text.unicodeScalars
        position = scalars.startIndex
        // A byte order mark.
        if current == "\u{FEFF}" { advance() }
    }

    private var current: Unicode.Scalar? { position < scalars.endIndex ? scalars[position] : nil }

    private mutating func advance() {
        if current == "\n" { line += 1 }
        position = scalars.index(after: position)
    }

    /// Returns the next record, or nil at the end.
    mutating func next() throws -> [String?]? {
        while current == "\n" || current == "\r" { advance() }
        guard current != nil else { return nil }
        var record: [String?] = []
        while true {
            record.append(try field())
            guard current == "," else { return record }
            advance()
        }
    }

    private mutating func field() throws -> String? {
        guard current == "\"" else {
            var text = String.UnicodeScalarView()
            while let scalar = current, scalar != ",", scalar != "\n", scalar != "\r" {
                text.append(scalar)
                advance()
            }
            return text.isEmpty ? nil : String(text)
        }
        let start = line
        advance()
        var text = String.UnicodeScalarView()
        while let scalar = current {
            advance()
            if scalar != "\"" {
                text.append(scalar)
            } else if current == "\"" {
                text.append(scalar)
                advance()
            } else {
                guard current == nil || current == "," || current == "\n" || current == "\r" else {
                    throw failure("A quoted field continues after its closing quote", in: line)
                }
                return String(text)
            }
        }
        throw failure("A quoted field has no closing quote", in: start)
    }

    private func failure(_ problem: String, in line: Int) -> CommandFailure {
        CommandFailure(.data, message: "\(problem), in line \(line).", advice: "Correct the file. Nothing was changed.")
    }
}

extension DynamicValue {
    /// The value as a field of CSV; nil if it is nil.
    var csvField: String? {
        switch self {
        case .null, .unreadable: nil
        case .references, .attachment, .attachments: JSONOutput(self).rendered
        default: description
        }
    }
}
