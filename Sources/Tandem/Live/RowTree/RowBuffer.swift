import Foundation
import Synchronization

/// Rows in the order in which they were read, before they are sorted into a ``RowTree``.
///
/// The records of all rows are in a single block of memory: reading a row allocates nothing.
final class RowBuffer {
    private var memory: UnsafeMutableRawPointer
    private var capacity = 1024
    private(set) var byteCount = 0
    /// The start of each record, and the end of the last one.
    private var starts = [0]
    /// The range of the rowids, or `nil` without rows.
    private(set) var rowIDs: ClosedRange<Int64>?
    /// Long payloads, which the records refer to.
    private var boxes: [RowPayload] = []
    /// The result of ``prefetch(_:)``, without which the compiler would remove its reads.
    private let prefetched = Atomic<UInt8>(0)

    init() {
        guard let memory = malloc(capacity) else { preconditionFailure("There is no memory for rows.") }
        self.memory = memory
    }

    deinit { free(memory) }

    var count: Int { starts.count - 1 }

    /// The row with a number in the order of appending. The view is valid until the next append.
    @inline(__always)
    subscript(index: Int) -> RowView {
        let record = UnsafeRawBufferPointer(start: memory + starts[index], count: starts[index + 1] - starts[index])
        return RowView(record, prefix: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Reads a byte of each cache line of some rows. The processor then fetches these lines at the same time, and not
    /// one after another when the rows are used.
    func prefetch(_ rows: ArraySlice<Int>) {
        var sum: UInt8 = 0
        for row in rows {
            let (start, end) = (starts[row], starts[row + 1])
            for offset in stride(from: start, to: end, by: 64) {
                sum &+= memory.load(fromByteOffset: offset, as: UInt8.self)
            }
            // The last bytes can be in one more line.
            sum &+= memory.load(fromByteOffset: end - 1, as: UInt8.self)
        }
        prefetched.store(sum, ordering: .relaxed)
    }

    // MARK: Appending

    /// A row whose payload is being appended.
    struct OpenRow {
        fileprivate let rowID: Int64
        fileprivate let start: Int
        fileprivate let payloadStart: Int
    }

    /// Begins a row. Its payload is appended next, and then the row is finished or discarded.
    ///
    /// - Parameters:
    ///   - rowID: The row's rowid.
    ///   - key: The sort key.
    ///   - localID: The bytes of the local ID's text.
    /// - Returns: The row, for ``finish(_:)`` or ``discard(_:)``.
    func begin(rowID: Int64, key: UnsafeRawBufferPointer, localID: UnsafeRawBufferPointer) -> OpenRow {
        let start = byteCount
        let number = RowView.zigzag(rowID)
        let headCount = 30 + key.count + max(PackedUUID.packedCount, localID.count)
        reserve(headCount)
        withUnsafeTemporaryAllocation(byteCount: PackedUUID.packedCount, alignment: 8) { packed in
            let isPacked = PackedUUID.pack(localID, to: packed.baseAddress.unsafelyUnwrapped)
            let id = isPacked ? UnsafeRawBufferPointer(packed) : localID
            let kind = RowView.kind(idCount: id.count, isPacked: isPacked, isBoxed: false)
            var next = RowView.write(UInt64(key.count), to: memory + start)
            next = RowView.write(kind, to: next)
            next = RowView.write(number, to: next)
            next = RowView.write(key, to: next)
            next = RowView.write(id, to: next)
            byteCount = next - memory
        }
        return OpenRow(rowID: rowID, start: start, payloadStart: byteCount)
    }

    /// Finishes a row after its payload was appended.
    func finish(_ row: OpenRow) {
        if byteCount - row.payloadStart > RowPayload.longestInline {
            boxPayload(from: row.payloadStart, record: row.start)
        }
        starts.append(byteCount)
        recordRowID(row.rowID)
    }

    /// Removes a row whose payload can't be appended.
    func discard(_ row: OpenRow) { byteCount = row.start }

    @inline(__always)
    private func recordRowID(_ rowID: Int64) {
        let known = rowIDs ?? rowID...rowID
        rowIDs = min(known.lowerBound, rowID)...max(known.upperBound, rowID)
    }

    /// Appends the rows of another buffer.
    func append(contentsOf other: RowBuffer) {
        guard let rowIDs = other.rowIDs else { return }
        recordRowID(rowIDs.lowerBound)
        recordRowID(rowIDs.upperBound)
        starts.append(contentsOf: other.starts.lazy.dropFirst().map { [byteCount] in $0 + byteCount })
        append(UnsafeRawBufferPointer(start: other.memory, count: other.byteCount))
        boxes.append(contentsOf: other.boxes)
    }

    /// Moves a long payload at the end into an object.
    private func boxPayload(from start: Int, record: Int) {
        let box = RowPayload.make(UnsafeRawBufferPointer(start: memory + start, count: byteCount - start))
        boxes.append(box)
        var next = UnsafeRawPointer(memory + record)
        _ = RowView.varint(&next)
        // The flag is in the first byte of the kind.
        let kind = memory + (next - UnsafeRawPointer(memory))
        kind.storeBytes(of: kind.load(as: UInt8.self) | RowView.boxedBit, as: UInt8.self)
        let reference = UnsafeRawPointer(Unmanaged.passUnretained(box).toOpaque())
        (memory + start).storeBytes(of: reference, as: UnsafeRawPointer.self)
        byteCount = start + MemoryLayout<UnsafeRawPointer>.size
    }

    // MARK: Payloads

    /// Appends a byte to the payload.
    @inline(__always)
    func append(_ byte: UInt8) {
        reserve(1)
        memory.storeBytes(of: byte, toByteOffset: byteCount, as: UInt8.self)
        byteCount += 1
    }

    /// Appends the low bytes of a word, the lowest first.
    @inline(__always)
    func append(_ word: UInt64, count: Int) {
        reserve(8)
        memory.storeBytes(of: word.littleEndian, toByteOffset: byteCount, as: UInt64.self)
        byteCount += count
    }

    @inline(__always)
    func append(varint value: UInt64) {
        reserve(10)
        byteCount = RowView.write(value, to: memory + byteCount) - memory
    }

    @inline(__always)
    func append(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        byteCount = RowView.write(bytes, to: memory + byteCount) - memory
    }

    /// Appends a tag and the packed form of a text, if it has one.
    @inline(__always)
    func append(tag: UInt8, packing text: UnsafeRawBufferPointer) -> Bool {
        reserve(1 + PackedUUID.packedCount)
        guard PackedUUID.pack(text, to: memory + byteCount + 1) else { return false }
        memory.storeBytes(of: tag, toByteOffset: byteCount, as: UInt8.self)
        byteCount += 1 + PackedUUID.packedCount
        return true
    }

    @inline(__always)
    private func reserve(_ count: Int) {
        if byteCount + count > capacity { grow(count) }
    }

    @inline(never)
    private func grow(_ count: Int) {
        capacity = max(capacity * 2, byteCount + count)
        // glibc moves the pages of a large block instead of copying them.
        guard let larger = realloc(memory, capacity) else { preconditionFailure("There is no memory for rows.") }
        memory = larger
    }
}

extension RowBuffer {
    /// Appends a row.
    func append(rowID: Int64, key: [UInt8], localID: LocalID, payload: [UInt8] = []) {
        var text = localID.rawValue
        text.withUTF8 { text in
            key.withUnsafeBytes { key in
                let row = begin(rowID: rowID, key: key, localID: UnsafeRawBufferPointer(text))
                payload.withUnsafeBytes { append($0) }
                finish(row)
            }
        }
    }
}
