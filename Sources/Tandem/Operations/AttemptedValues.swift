import Crypto

/// The kinds of request sent for an operation since the server's last response. The server may have executed any of
/// them, late or with a lost response.
package struct AttemptedKinds: OptionSet, Hashable, Sendable {
    package let rawValue: Int64

    /// An insert.
    package static let insert = AttemptedKinds(rawValue: 1)
    /// An update.
    package static let update = AttemptedKinds(rawValue: 2)
    /// A delete.
    package static let delete = AttemptedKinds(rawValue: 4)

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Whether an update may have brought back an object that a delete had removed on the server.
    package var mayUndelete: Bool { isSuperset(of: [.update, .delete]) }

    /// Returns the stored form: three bits, and above them the kinds sent before the current attempt. They are restored
    /// if the server surely did not execute the attempt.
    func encoded(before: AttemptedKinds = []) -> StorageValue { .integer(rawValue | before.rawValue << 3) }

    /// The kind of one request.
    package init(_ kind: PendingOperation.Kind) {
        switch kind {
        case .insert: self = .insert
        case .update: self = .update
        case .delete: self = .delete
        }
    }
}

/// The property values sent since the server's last response, by their columns.
///
/// After a lost response the server may hold any of these values. If it sends one back, the value is our own and not a
/// conflict. Values have the form that comes back from the wire, and references have the IDs with which they were sent.
/// A long value is stored as its digest, so that repeated attempts do not store a large text again.
///
/// The stored form is one blob: a byte 1 (the version) and the number of columns. Each column has its name, the number
/// of values, and the values, oldest first, as ``PackedWriter`` writes them. A byte 5 and the 32 bytes of its digest
/// replace a long value. A byte 1 and the value of the current attempt follow, or a byte 0.
struct AttemptedValues: Equatable {
    enum Entry: Hashable {
        case value(StorageValue)
        case digest([UInt8])
    }

    struct Column: Equatable {
        var name: String
        /// The values that the server may hold, oldest first.
        var entries: [Entry]
        /// The value of the current attempt. It is separate because the server cannot hold it if the attempt surely
        /// failed.
        var current: Entry?

        mutating func markMayHaveExecuted() {
            guard let entry = current else { return }
            current = nil
            // A value that is sent again is the newest.
            entries.removeAll { $0 == entry }
            entries.append(entry)
            if entries.count > limit { entries.removeFirst() }
        }
    }

    private(set) var columns: [Column] = []

    /// The maximum number of values for each property. Edits with lost responses over hours must not fill the disk.
    static let limit = 16
    /// Longer values are stored as digests.
    static let longest = 64

    var isEmpty: Bool { columns.isEmpty }

    init(columns: [Column] = []) {
        self.columns = columns
    }

    /// Records that a value is being sent.
    mutating func record(_ value: StorageValue, of column: String) {
        let entry = Self.entry(of: value)
        guard let index = columns.firstIndex(where: { ScalarText.isEqual($0.name, column) }) else {
            columns.append(Column(name: column, entries: [], current: entry))
            return
        }
        columns[index].markMayHaveExecuted()
        columns[index].current = entry
    }

    /// Records that the server may have executed the current attempt.
    mutating func markMayHaveExecuted() {
        for index in columns.indices { columns[index].markMayHaveExecuted() }
    }

    /// Records that the server surely did not execute the current attempt.
    mutating func forgetCurrent() {
        for index in columns.indices { columns[index].current = nil }
        columns.removeAll { $0.entries.isEmpty }
    }

    /// Returns whether a value on the server may be one that was sent.
    func contains(_ value: StorageValue, of column: String) -> Bool {
        let entry = Self.entry(of: value)
        guard let column = find(column) else { return false }
        return column.current == entry || column.entries.contains(entry)
    }

    /// Returns whether an earlier attempt sent this value, and no attempt another one.
    func haveOnly(_ value: StorageValue, of column: String) -> Bool {
        find(column)?.entries.contains(Self.entry(of: value)) == true && !hasOther(than: value, of: column)
    }

    /// Returns whether a value of the property other than this one was sent.
    func hasOther(than value: StorageValue, of column: String) -> Bool {
        let entry = Self.entry(of: value)
        guard let column = find(column) else { return false }
        return column.current.map { $0 != entry } ?? false || column.entries.contains { $0 != entry }
    }

    /// Returns whether any value of a property was sent.
    func names(_ column: String) -> Bool { find(column) != nil }

    private func find(_ column: String) -> Column? { columns.first { ScalarText.isEqual($0.name, column) } }

    private static func entry(of value: StorageValue) -> Entry {
        switch value {
        case .text(let text) where text.utf8.count > longest: .digest(Self.digest([3] + text.utf8))
        case .blob(let bytes) where bytes.count > longest: .digest(Self.digest([4] + bytes))
        default: .value(value)
        }
    }

    /// The digest does not protect a secret. It represents a long value in comparisons.
    private static func digest(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    // MARK: Bytes

    var bytes: [UInt8] {
        var out = PackedWriter(version: 1)
        out.append(count: columns.count)
        for column in columns {
            out.append(text: column.name)
            out.append(count: column.entries.count)
            for entry in column.entries { Self.append(entry, to: &out) }
            out.append(byte: column.current == nil ? 0 : 1)
            if let current = column.current { Self.append(current, to: &out) }
        }
        return out.bytes
    }

    private static func append(_ entry: Entry, to out: inout PackedWriter) {
        switch entry {
        case .value(let value): out.append(value)
        case .digest(let digest):
            out.append(byte: 5)
            out.append(raw: digest)
        }
    }

    private static func entry(_ reader: inout PackedReader) throws -> Entry {
        let storageClass = try reader.byte()
        return storageClass == 5
            ? .digest(Array(try reader.readBytes(32))) : .value(try reader.value(ofClass: storageClass))
    }

    /// - Throws: ``InvalidEncoding`` if the bytes are not valid attempted values.
    init(bytes: UnsafeRawBufferPointer) throws {
        var reader = try PackedReader(bytes, of: "an operation's attempted values", version: 1)
        for _ in 0..<(try reader.count()) {
            var column = Column(name: try reader.text(), entries: [])
            for _ in 0..<(try reader.count()) { column.entries.append(try Self.entry(&reader)) }
            switch try reader.byte() {
            case 0: break
            case 1: column.current = try Self.entry(&reader)
            default: throw reader.failure("the mark of a value is unknown")
            }
            columns.append(column)
        }
        try reader.end()
    }

    /// The values in their stored form: NULL if there are none.
    var encoded: StorageValue { isEmpty ? .null : .blob(bytes) }
}
