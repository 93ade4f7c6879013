import Foundation
import Tandem
import TandemServerCore

@Model struct Owner {
    /// The object's key in ``SimTruth``. It never changes.
    var tag: String
    var name: String?
    var friend: Reference<Owner>?
    var items: [Reference<Item>] = []
}

@Model struct Item {
    var tag: String
    var title: String?
    var points: Int = 0
    var due: Date?
    var owner: Reference<Owner>?
    var twin: Reference<Item>?
}

/// The few values that acts write, so that two devices sometimes write the same value.
enum SimValues {
    static let texts: [String?] = ["Лента", "Перекрёсток", "İstanbul", "ქართული", "", "カード", "a'b\"c\\", nil]
    /// Whole milliseconds, which the wire preserves.
    static let dates: [Date?] = [nil, Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1_795_000_000.003)]

    static func text(_ value: String?) -> String { value ?? "nil" }

    static func text(_ value: Date?) -> String {
        value.map { "\(Int64(($0.timeIntervalSince1970 * 1000).rounded()))" } ?? "nil"
    }

    /// Returns the text of a member of a server's row.
    static func text(_ name: String, _ value: JSONValue?) -> String {
        switch value {
        case .text(let text)? where name == "due":
            SimValues.text(try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
        case .text(let text)?: text
        case .number(let digits)?: digits
        default: "nil"
        }
    }
}
