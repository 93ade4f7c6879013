/// A pass over a text that writes one of its keys.
///
/// Nearly every scalar folds as its table states, whatever its neighbours, and is written at once. A scalar that
/// depends on its neighbours (a mark, a Korean vowel) starts a *segment*. The segment begins at the last scalar before
/// it that left text, because that may change. It ends before the next scalar that leaves text and is not such a scalar
/// itself. The output of the segment's first scalar is removed, and the segment takes the general path: decompose,
/// fold, compose. Only the general path allocates memory.
struct FoldingPass<Rules: FoldingRules> {
    private let table: FoldTable
    private let input: UnsafePointer<UInt8>
    private let inputCount: Int

    /// The buffer for output bytes, which are copied to the caller's array in bulk.
    private let buffer: UnsafeMutablePointer<UInt8>
    private var used = 0
    /// The number of the key's bytes already copied to the caller's array.
    private var flushed = 0

    /// Whether a space must be written before the next scalar.
    private var pendingSpace = false
    /// The last scalar that left text: its start in the input, and the start of its output in the key.
    private var baseInput = 0
    private var baseOutput = 0

    static var bufferSize: Int { 512 }
    /// The longest output without a check of the remaining space. The worst case is a space and the 18 scalars of
    /// U+FDFA.
    private static var reserve: Int { 128 }

    private init(table: FoldTable, input: UnsafeBufferPointer<UInt8>, buffer: UnsafeMutablePointer<UInt8>) {
        self.table = table
        self.input = input.baseAddress!
        inputCount = input.count
        self.buffer = buffer
    }

    /// Appends the key of `utf8`.
    ///
    /// - Parameter isGeneral: Whether the whole text takes the general path. Tests compare both paths.
    static func append(_ utf8: UnsafeBufferPointer<UInt8>, to out: inout [UInt8], isGeneral: Bool = false) {
        if utf8.isEmpty { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bufferSize) { buffer in
            var pass = FoldingPass(table: Rules.table, input: utf8, buffer: buffer.baseAddress!)
            if isGeneral {
                pass.appendSegment(0..<utf8.count, to: &out)
            } else {
                pass.run(&out)
            }
            pass.flush(&out)
        }
    }

    private mutating func run(_ out: inout [UInt8]) {
        var index = 0
        while index < inputCount {
            if used > Self.bufferSize - Self.reserve { flush(&out) }
            let start = index
            let byte = input[index]
            if byte < 0x80 {
                index += 1
                let folded = table.ascii[Int(byte)]
                if folded < 0x80 {
                    beginScalar(at: start)
                    buffer[used] = folded
                    used += 1
                } else if folded == FoldTable.space {
                    space(at: start)
                }
                continue
            }
            let scalar = UTF8Scalars.decode(input, at: &index)
            let entry = table[scalar]
            if entry.isFastSingle {
                beginScalar(at: start)
                UTF8Scalars.encode(
                    UInt32(bitPattern: Int32(bitPattern: scalar) &+ entry.difference), into: buffer, at: &used)
            } else if entry.isSlow {
                index = endOfSegment(after: index)
                truncate(to: baseOutput, of: &out)
                appendSegment(baseInput..<index, to: &out)
                // The next scalar leaves text and becomes the base. Until then there is no output to remove.
            } else {
                switch entry.kind {
                case .single, .nothing, .accent: break
                case .space: space(at: start)
                case .sequence: sequence(entry, at: start)
                }
            }
        }
    }

    @inline(__always)
    private mutating func beginScalar(at start: Int) {
        if Rules.collapsesSpace, pendingSpace {
            buffer[used] = 0x20
            used += 1
            pendingSpace = false
        }
        baseInput = start
        baseOutput = flushed + used
    }

    @inline(__always)
    private mutating func space(at start: Int) {
        // Leading space is dropped here. Trailing space is never written, because a space waits for the next scalar.
        pendingSpace = flushed + used > 0
        baseInput = start
        baseOutput = flushed + used
    }

    private mutating func sequence(_ entry: FoldEntry, at start: Int) {
        beginScalar(at: start)
        for offset in entry.offset..<entry.offset + entry.count {
            write(table.pool[offset])
        }
    }

    private mutating func write(_ scalar: UInt32) {
        if Rules.collapsesSpace {
            if scalar == 0x20 {
                pendingSpace = flushed + used > 0
                return
            }
            if pendingSpace {
                buffer[used] = 0x20
                used += 1
                pendingSpace = false
            }
        }
        UTF8Scalars.encode(scalar, into: buffer, at: &used)
    }

    // MARK: - Segments

    private func endOfSegment(after index: Int) -> Int {
        var index = index
        while index < inputCount {
            var next = index
            let entry = table[UTF8Scalars.decode(input, at: &next)]
            if !entry.isSlow, entry.leavesText { break }
            index = next
        }
        return index
    }

    private mutating func appendSegment(_ range: Range<Int>, to out: inout [UInt8]) {
        var scalars: [UInt32] = []
        scalars.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            scalars.append(UTF8Scalars.decode(input, at: &index))
        }
        for scalar in Rules.fold(scalars) {
            if used > Self.bufferSize - Self.reserve { flush(&out) }
            write(scalar)
        }
    }

    // MARK: - Output

    private mutating func flush(_ out: inout [UInt8]) {
        out.append(contentsOf: UnsafeBufferPointer(start: buffer, count: used))
        flushed += used
        used = 0
    }

    private mutating func truncate(to output: Int, of out: inout [UInt8]) {
        if output >= flushed {
            used = output - flushed
        } else {
            out.removeLast(flushed - output)
            flushed = output
            used = 0
        }
    }
}

/// The rules that distinguish the two keys.
protocol FoldingRules {
    static var table: FoldTable { get }
    /// Whether runs of white space become a single U+0020, and are removed at both ends.
    static var collapsesSpace: Bool { get }
    /// Folds scalars on the general path. Neighbours on either side can't change the result.
    static func fold(_ scalars: [UInt32]) -> [UInt32]
}

enum CaseRules: FoldingRules {
    static var table: FoldTable { FoldingTables.sort }
    static var collapsesSpace: Bool { false }

    static func fold(_ scalars: [UInt32]) -> [UInt32] {
        // Decompose first: case folding turns the mark U+0345 into a letter, which must follow all other marks.
        var folded: [UInt32] = []
        for scalar in FoldingTables.normal.decompose(scalars) {
            table.append(scalar, to: &folded)
        }
        return FoldingTables.normal.compose(folded)
    }
}

enum SearchRules: FoldingRules {
    static var table: FoldTable { FoldingTables.search }
    static var collapsesSpace: Bool { true }

    static func fold(_ scalars: [UInt32]) -> [UInt32] {
        var folded: [UInt32] = []
        for scalar in scalars {
            table.append(scalar, to: &folded)
        }
        SearchMarks.drop(from: &folded)
        return FoldingTables.normal.compose(folded)
    }
}
