/// A reader for the numbers that `Scripts/generate-folding-tables.py` and `Scripts/generate-collation-tables.py` write
/// into the literals of the generated files.
///
/// The literals are text: the compiler needs seconds for an array of some thousand integers, and no time for a string.
/// Each character holds six bits: five bits of a number, lowest first, and a continuation bit.
struct TableReader {
    private var next: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>

    init(_ literal: StaticString) {
        next = literal.utf8Start
        end = next + literal.utf8CodeUnitCount
    }

    var isAtEnd: Bool { next == end }

    mutating func number() -> Int {
        var value = 0
        var shift = 0
        while next < end {
            let byte = next.pointee
            next += 1
            // The characters are those from '#' on, without the backslash.
            let group = Int(byte) - (byte > 0x5C ? 0x24 : 0x23)
            value |= (group & 31) << shift
            shift += 5
            if group < 32 { return value }
        }
        preconditionFailure("A table is truncated: generate the tables again")
    }

    mutating func signed() -> Int {
        let value = number()
        return value & 1 == 0 ? value >> 1 : -(value >> 1) - 1
    }

    /// Reads runs of scalars with a number each, until a run of length 0.
    mutating func runs(_ body: (_ scalar: UInt32, _ value: Int) -> Void) {
        var position = 0
        while true {
            position += number()
            let lengthAndStride = number()
            if lengthAndStride == 0 { return }
            let count = lengthAndStride >> 1
            let stride = 1 + (lengthAndStride & 1)
            let value = signed()
            for index in 0..<count {
                body(UInt32(position + index * stride), value)
            }
            position += (count - 1) * stride + 1
        }
    }

    /// Reads scalars with a sequence of scalars each, appended to `pool`, until an empty sequence.
    mutating func sequences(into pool: inout [UInt32], _ body: (_ scalar: UInt32, _ offset: Int, _ count: Int) -> Void)
    {
        var position = 0
        var last = 0
        while true {
            position += number()
            let count = number()
            if count == 0 { return }
            let offset = pool.count
            for _ in 0..<count {
                last += signed()
                pool.append(UInt32(last))
            }
            body(UInt32(position), offset, count)
            position += 1
        }
    }
}
