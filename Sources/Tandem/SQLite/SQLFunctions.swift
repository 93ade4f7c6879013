import GRDBSQLite

/// Tandem's own SQL functions.
///
/// They are registered through SQLite's C API: GRDB's functions receive texts as C strings, which end at U+0000.
enum SQLFunctions {
    /// `__tandem_like(pattern, text)`: whether a text matches a pattern with `*` and `?`.
    static let like = "__tandem_like"
    /// `__tandem_element(list, index)`: a value of a ``PackedList``.
    static let listElement = "__tandem_element"
    /// `__tandem_contains(element, collection)`: whether a collection in exact JSON has an element.
    static let elementsContain = "__tandem_contains"

    /// `__tandem_first_letter(collation, text)`: the letter of a text's section.
    static let firstLetter = "__tandem_first_letter"
    /// `__tandem_first_letter_key(collation, text)`: the sort key of this letter.
    static let firstLetterKey = "__tandem_first_letter_key"
    /// `__tandem_folded(test, text)`: whether a ``FoldedTest`` holds.
    static let folded = "__tandem_folded"

    static func register(on handle: OpaquePointer) throws {
        try register(like, argumentCount: 2, on: handle) { context, _, arguments in
            SQLFunctions.like(context, pattern: arguments![0], text: arguments![1])
        }
        try register(listElement, argumentCount: 2, on: handle) { context, _, arguments in
            SQLFunctions.element(context, list: arguments![0], index: arguments![1])
        }
        try register(elementsContain, argumentCount: 2, on: handle) { context, _, arguments in
            SQLFunctions.contains(context, element: arguments![0], list: arguments![1])
        }
        try register(firstLetter, argumentCount: 2, on: handle) { context, _, arguments in
            SQLFunctions.firstLetter(context, collation: arguments![0], text: arguments![1], isKey: false)
        }
        try register(firstLetterKey, argumentCount: 2, on: handle) { context, _, arguments in
            SQLFunctions.firstLetter(context, collation: arguments![0], text: arguments![1], isKey: true)
        }
        try register(folded, argumentCount: 2, on: handle) { context, _, arguments in
            SQLFunctions.folded(context, test: arguments![0], text: arguments![1])
        }
        try ExactSum.register(on: handle)
    }

    private static func register(
        _ name: String, argumentCount: Int32, on handle: OpaquePointer,
        function:
            @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
    ) throws {
        let code = sqlite3_create_function_v2(
            handle, name, argumentCount, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil, function, nil, nil,
            nil)
        try check(code, handle: handle)
    }

    /// Registers a deterministic function that has any number of arguments and returns a blob.
    static func register(
        _ name: String, on handle: OpaquePointer, function: @escaping (Arguments) -> [UInt8]
    ) throws {
        let code = sqlite3_create_function_v2(
            handle, name, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
            Unmanaged.passRetained(BlobFunction(function)).toOpaque(),
            { context, count, values in
                let pointer = sqlite3_user_data(context)!
                let function = Unmanaged<BlobFunction>.fromOpaque(pointer).takeUnretainedValue()
                let result = function.call(Arguments(values: UnsafeBufferPointer(start: values, count: Int(count))))
                // A null pointer would be NULL.
                if result.isEmpty { return sqlite3_result_zeroblob(context, 0) }
                sqlite3_result_blob(context, result, Int32(result.count), SQLFunctions.transient)
            }, nil, nil,
            // SQLite also calls this if the registration fails.
            { pointer in Unmanaged<BlobFunction>.fromOpaque(pointer!).release() })
        try check(code, handle: handle)
    }

    /// The arguments of a call. Their bytes are valid during the call.
    struct Arguments {
        fileprivate let values: UnsafeBufferPointer<OpaquePointer?>

        var count: Int { values.count }
        subscript(index: Int) -> ColumnView { ColumnView(values[index]) }
    }

    private final class BlobFunction {
        let call: (Arguments) -> [UInt8]
        init(_ call: @escaping (Arguments) -> [UInt8]) { self.call = call }
    }

    static func check(_ code: Int32, handle: OpaquePointer) throws {
        guard code != SQLITE_OK else { return }
        let message = String(cString: sqlite3_errmsg(handle))
        throw TandemError(.sql, message: "SQLite failed to register a function: \(message)", sqliteCode: code)
    }

    // MARK: The functions

    /// A box that attaches a value to a statement's constant argument, so that it is created once for all rows.
    private final class CachedArgument<Value> {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    /// Returns the value created from the first argument, which is attached to it.
    private static func cachedArgument<Value>(_ context: OpaquePointer?, make: () -> Value) -> Value {
        if let pointer = sqlite3_get_auxdata(context, 0) {
            return Unmanaged<CachedArgument<Value>>.fromOpaque(pointer).takeUnretainedValue().value
        }
        let value = make()
        // SQLite may free it at once, so do not read it back.
        sqlite3_set_auxdata(context, 0, Unmanaged.passRetained(CachedArgument(value)).toOpaque()) { pointer in
            if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
        }
        return value
    }

    private static func like(_ context: OpaquePointer?, pattern: OpaquePointer?, text: OpaquePointer?) {
        guard let text = utf8(text), let pattern = utf8(pattern) else { return sqlite3_result_null(context) }
        let compiled = cachedArgument(context) { WildcardPattern(String(decoding: pattern, as: UTF8.self)) }
        sqlite3_result_int(context, compiled.matches(text) ? 1 : 0)
    }

    private static func element(_ context: OpaquePointer?, list: OpaquePointer?, index: OpaquePointer?) {
        let index = Int(sqlite3_value_int64(index))
        guard let element = PackedList.element(index, of: bytes(list)) else { return sqlite3_result_null(context) }
        let count = Int32(element.bytes.count)
        switch element.tag {
        case .null: sqlite3_result_null(context)
        case .integer:
            sqlite3_result_int64(context, Int64(littleEndian: element.bytes.loadUnaligned(as: Int64.self)))
        case .real:
            let bits = UInt64(littleEndian: element.bytes.loadUnaligned(as: UInt64.self))
            sqlite3_result_double(context, Double(bitPattern: bits))
        case .text:
            let pointer = element.bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            sqlite3_result_text(context, pointer, count, transient)
        case .blob: sqlite3_result_blob(context, element.bytes.baseAddress, count, transient)
        }
    }

    private static func contains(_ context: OpaquePointer?, element: OpaquePointer?, list: OpaquePointer?) {
        guard let list = utf8(list), let element = utf8(element) else { return sqlite3_result_null(context) }
        let wanted = cachedArgument(context) { try? ExactJSON.parse(element) }
        guard let wanted, case .array(let nodes)? = try? ExactJSON.parse(list) else {
            return sqlite3_result_null(context)
        }
        let found = nodes.contains { node in
            // Numbers are equal as in Swift: 0.0 equals -0.0, and NaN does not equal any number.
            if case .real(let left) = node, case .real(let right) = wanted { left == right } else { node == wanted }
        }
        sqlite3_result_int(context, found ? 1 : 0)
    }

    private static func firstLetter(
        _ context: OpaquePointer?, collation: OpaquePointer?, text: OpaquePointer?, isKey: Bool
    ) {
        guard let text = utf8(text), let name = utf8(collation) else { return sqlite3_result_null(context) }
        let collation = cachedArgument(context) { Collation(argument: String(decoding: name, as: UTF8.self)) }
        guard let collation else { return sqlite3_result_null(context) }
        var letter = collation.firstLetter(of: String(decoding: text, as: UTF8.self))
        if isKey {
            let key = collation.key(for: letter)
            sqlite3_result_blob(context, key, Int32(key.count), transient)
        } else {
            letter.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { bytes in
                    sqlite3_result_text(context, bytes.baseAddress, Int32(bytes.count), transient)
                }
            }
        }
    }

    private static func folded(_ context: OpaquePointer?, test: OpaquePointer?, text: OpaquePointer?) {
        guard let text = utf8(text) else { return sqlite3_result_null(context) }
        let test = cachedArgument(context) { FoldedTest(argument: Array(bytes(test))) }
        guard let test else { return sqlite3_result_null(context) }
        sqlite3_result_int(context, test.holds(text) ? 1 : 0)
    }

    /// Returns whether two names of tables or columns are the same to SQLite, which ignores the case of ASCII letters.
    static func isSameName(_ name: UnsafePointer<CChar>, as other: UnsafePointer<CChar>) -> Bool {
        sqlite3_stricmp(name, other) == 0
    }

    // MARK: Arguments

    static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Returns the bytes of a text, including U+0000, or `nil` for NULL.
    private static func utf8(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8>? {
        guard let pointer = sqlite3_value_text(value) else { return nil }
        return UnsafeBufferPointer(start: pointer, count: Int(sqlite3_value_bytes(value)))
    }

    static func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer {
        let pointer = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_value_bytes(value)))
    }
}
