import Foundation

/// Reads brands from a file of tab-separated values: UTF-8, a header line, no quoting.
///
/// The header names the columns: `name` is required, `category`, `regions` (separated by commas) and `wikidata` are
/// optional. An unreadable line throws an error with its number, and no brand is returned.
enum BrandFile {
    static func read(_ path: String) throws -> [BrandEntry] {
        let url = URL(fileURLWithPath: path)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw Failure(.noInput, message: "\(path): the file does not exist.")
        }
        guard !isFolder.boolValue else {
            throw Failure(.noInput, message: "\(path): the path is a folder, not a file.")
        }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw Failure(.noPermission, message: "\(path): the file is not readable.")
        }
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw Failure(.inputOutput, message: "\(path): the file can't be read: \(error.localizedDescription)")
        }
        return try parse(Array(data), path: path)
    }

    static func parse(_ bytes: [UInt8], path: String) throws -> [BrandEntry] {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.starts(with: byteOrderMark) ? bytes.dropFirst(3) : bytes[...]
        var lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }

        var entries: [BrandEntry] = []
        entries.reserveCapacity(lines.count)
        var header: Header?
        for (index, line) in lines.enumerated() {
            let line = try Line(line, number: index + 1, path: path)
            if let header {
                entries.append(try header.entry(line))
            } else {
                header = try Header(line)
            }
        }
        guard header != nil else { throw Failure(.badData, message: "\(path): the file is empty.") }
        return entries
    }

    /// Returns a list as the text of such a file.
    static func text(_ entries: [BrandEntry]) -> String {
        entries.reduce(into: "name\tcategory\tregions\twikidata\n") { text, entry in
            let regions = entry.regions.joined(separator: ",")
            text += "\(entry.name)\t\(entry.category)\t\(regions)\t\(entry.wikidata ?? "")\n"
        }
    }

    /// The fields of a line.
    private struct Line {
        let fields: [String]
        let number: Int
        let path: String

        init(_ bytes: ArraySlice<UInt8>, number: Int, path: String) throws {
            self.number = number
            self.path = path
            let bytes = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
            guard let text = String(validating: bytes, as: UTF8.self) else {
                let valid = Self.validPrefix(of: bytes)
                throw Failure(
                    .badData, message: "\(path):\(number): the line is not UTF-8, from its byte \(valid + 1) on.",
                    advice: "Nothing was imported. Save the file as UTF-8 and try again.")
            }
            fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }

        func failure(_ message: String) -> Failure {
            Failure(.badData, message: "\(path):\(number): \(message)", advice: "Nothing was imported.")
        }

        /// Returns the number of bytes before the first invalid UTF-8.
        private static func validPrefix(of bytes: ArraySlice<UInt8>) -> Int {
            var decoder = UTF8()
            var iterator = bytes.makeIterator()
            var count = 0
            while case .scalarValue(let scalar) = decoder.decode(&iterator) { count += UTF8.width(scalar) }
            return count
        }
    }

    /// The positions of the fields.
    private struct Header {
        let count: Int
        let name: Int
        let category: Int?
        let regions: Int?
        let wikidata: Int?

        init(_ line: Line) throws {
            count = line.fields.count
            category = line.fields.firstIndex(of: "category")
            regions = line.fields.firstIndex(of: "regions")
            wikidata = line.fields.firstIndex(of: "wikidata")
            guard let name = line.fields.firstIndex(of: "name") else {
                throw line.failure("the header has no column “name”.")
            }
            self.name = name
        }

        func entry(_ line: Line) throws -> BrandEntry {
            guard line.fields.count == count else {
                throw line.failure("\(line.fields.count.of("field")), but the header has \(count).")
            }
            func field(_ index: Int?) -> String { index.map { line.fields[$0] } ?? "" }
            guard !field(name).isEmpty else { throw line.failure("the name is empty.") }
            return BrandEntry(
                name: field(name),
                category: field(category),
                regions: field(regions).split(separator: ",").map(String.init),
                wikidata: field(wikidata).isEmpty ? nil : field(wikidata))
        }
    }
}
