import Foundation
import Tandem
import TandemTesting

extension InspectorFixture {
    private static let pageSize = 4096

    /// Inserts a thousand cards, closes the store, and overwrites some pages that hold them.
    func damageCards() throws {
        let before = try pages()
        try store.write { tx in
            for number in 0..<1000 {
                try tx.insert(Card(shop: "x", barcode: String(repeating: "\(number % 10)", count: 200)))
            }
        }
        store.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        // The cards fill most of the new pages. Earlier pages hold the schema and the settings.
        let count = bytes.count / Self.pageSize
        for page in stride(from: before + (count - before) / 4, to: before + (count - before) / 2, by: 3) {
            let range = page * Self.pageSize..<(page + 1) * Self.pageSize
            bytes.replaceSubrange(range, with: repeatElement(0xA5, count: range.count))
        }
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    /// Returns the number of pages after a checkpoint.
    private func pages() throws -> Int {
        try kind.open(at: path, Self.models).close()
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        return max(1, (size?.intValue ?? 0) / Self.pageSize)
    }
}
