import BigInt
import Foundation
import GRDBSQLite

/// Sums that SQLite's own `sum` does not support: integers beyond 64 bits, big integers and decimals, and
/// floating-point numbers that include NaN.
///
/// Each kind is an aggregate function. Its result is a value in its stored form, or NULL if the sum does not fit. If a
/// stored value is not of the kind, the result is a text with the problem.
class ExactSum {
    enum Kind: Int, Sendable, CaseIterable {
        /// INTEGER, and the blobs of `UInt64`. The result is a `BigInt`.
        case integer = 1
        case real
        case bigInt
        case decimal

        var function: String {
            switch self {
            case .integer: "__tandem_sum_integer"
            case .real: "__tandem_sum_real"
            case .bigInt: "__tandem_sum_bigint"
            case .decimal: "__tandem_sum_decimal"
            }
        }

        fileprivate func makeSum() -> ExactSum {
            switch self {
            case .integer: IntegerSum()
            case .real: RealSum()
            case .bigInt: BigIntSum()
            case .decimal: DecimalSum()
            }
        }
    }

    fileprivate var failure: (any Error)?

    fileprivate func add(_ value: OpaquePointer?) throws {}
    fileprivate func total() -> StorageValue { .null }

    static func register(on handle: OpaquePointer) throws {
        for kind in Kind.allCases {
            let code = sqlite3_create_function_v2(
                handle, kind.function, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                UnsafeMutableRawPointer(bitPattern: kind.rawValue), nil,
                { context, _, arguments in
                    let value = arguments![0]
                    guard sqlite3_value_type(value) != SQLITE_NULL, let sum = ExactSum.sum(context) else { return }
                    guard sum.failure == nil else { return }
                    do { try sum.add(value) } catch { sum.failure = error }
                },
                { context in ExactSum.finish(context) }, nil)
            try SQLFunctions.check(code, handle: handle)
        }
    }

    /// Returns the sum in progress, which is created at the first row.
    private static func sum(_ context: OpaquePointer?) -> ExactSum? {
        let size = Int32(MemoryLayout<UnsafeMutableRawPointer?>.size)
        guard let memory = sqlite3_aggregate_context(context, size) else { return nil }
        let slot = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        if let pointer = slot.pointee { return Unmanaged<ExactSum>.fromOpaque(pointer).takeUnretainedValue() }
        guard let sum = kind(context)?.makeSum() else { return nil }
        slot.pointee = Unmanaged.passRetained(sum).toOpaque()
        return sum
    }

    private static func kind(_ context: OpaquePointer?) -> Kind? {
        Kind(rawValue: Int(bitPattern: sqlite3_user_data(context)))
    }

    /// Returns the result. SQLite calls it once for each sum, even if the statement ends early.
    private static func finish(_ context: OpaquePointer?) {
        var sum: ExactSum?
        if let memory = sqlite3_aggregate_context(context, 0) {
            let slot = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
            if let pointer = slot.pointee {
                sum = Unmanaged<ExactSum>.fromOpaque(pointer).takeRetainedValue()
                slot.pointee = nil
            }
        }
        guard let sum = sum ?? kind(context)?.makeSum() else { return sqlite3_result_null(context) }
        if let failure = sum.failure {
            let text = "\(failure)"
            return sqlite3_result_text(context, text, -1, SQLFunctions.transient)
        }
        switch sum.total() {
        case .null, .text: sqlite3_result_null(context)
        case .integer(let value): sqlite3_result_int64(context, value)
        case .real(let value): sqlite3_result_double(context, value)
        case .blob(let bytes): sqlite3_result_blob(context, bytes, Int32(bytes.count), SQLFunctions.transient)
        }
    }
}

/// A sum in 128 bits, which is enough for the maximum number of rows in a table.
private final class IntegerSum: ExactSum {
    private var sum: Int128 = 0

    override func add(_ value: OpaquePointer?) throws {
        if sqlite3_value_type(value) == SQLITE_BLOB {
            let bytes = SQLFunctions.bytes(value)
            guard bytes.count == 8 else {
                throw InvalidEncoding(
                    "UInt64", code: .truncated, problem: "there are \(bytes.count) bytes in place of 8")
            }
            sum &+= Int128(UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
        } else {
            sum &+= Int128(sqlite3_value_int64(value))
        }
    }

    override func total() -> StorageValue { Codec.of(Int128.self).storageValue(sum) }
}

/// A sum with Neumaier's compensation, so that rounding errors do not accumulate.
private final class RealSum: ExactSum {
    private var sum = 0.0
    private var compensation = 0.0

    override func add(_ value: OpaquePointer?) throws {
        let value = sqlite3_value_type(value) == SQLITE_BLOB ? .nan : sqlite3_value_double(value)
        let next = sum + value
        // Infinities have no rounding error. Compensating them would give NaN.
        if next.isFinite {
            compensation += abs(sum) >= abs(value) ? (sum - next) + value : (value - next) + sum
        }
        sum = next
    }

    override func total() -> StorageValue {
        let total = sum.isFinite ? sum + compensation : sum
        // The result of the system's arithmetic may be a NaN with a sign or a payload.
        return Codec.of(Double.self).storageValue(total.isNaN ? .nan : total)
    }
}

private final class BigIntSum: ExactSum {
    private var sum = BigInt()

    override func add(_ value: OpaquePointer?) throws {
        sum += try OrderedBigInt.decode(SQLFunctions.bytes(value))
    }

    override func total() -> StorageValue { Codec.of(BigInt.self).storageValue(sum) }
}

private final class DecimalSum: ExactSum {
    private var sum = DecimalTotal()

    override func add(_ value: OpaquePointer?) throws {
        sum.add(try OrderedDecimal.decode(SQLFunctions.bytes(value)))
    }

    override func total() -> StorageValue { sum.storageValue }
}
