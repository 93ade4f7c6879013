/// A JSON array with an element in each line.
struct JSONList {
    private var buffer: OutputBuffer
    private var count = 0

    init(_ console: Console) {
        buffer = OutputBuffer(console)
    }

    /// Appends an element, which is JSON.
    mutating func append(_ element: String) throws {
        try buffer.append((count == 0 ? "[\n" : ",\n") + element)
        count += 1
    }

    /// Ends the array.
    mutating func end() throws {
        try buffer.append(count == 0 ? "[]\n" : "\n]\n")
        try buffer.flush()
    }

    /// Prints a whole array.
    static func print(_ elements: [JSONOutput], on console: Console) throws {
        var list = JSONList(console)
        for element in elements { try list.append(element.rendered) }
        try list.end()
    }
}
