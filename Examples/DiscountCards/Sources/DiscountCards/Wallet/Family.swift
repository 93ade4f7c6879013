import Tandem

/// People to own a list of cards between them, where a list does not say whose they are.
enum Family {
    static let names = [
        "Ada Møller", "Мария Звонарёва", "Αλέξης Καραμήτρος", "田中 さくら", "Ayşe Işıldak", "ნინო ვარდიაშვილი", "נועה ברקת",
    ]

    /// Adds those who are not there yet, and returns them all.
    static func join(_ tx: WriteTransaction) throws -> [Person] {
        try names.map { try Person.named($0, in: tx) }
    }
}
