/// Collects text and writes it in large pieces.
struct OutputBuffer {
    private static let capacity = 1 << 16

    private let console: Console
    private var text = ""

    init(_ console: Console) {
        self.console = console
    }

    mutating func append(_ piece: String) throws {
        text += piece
        if text.utf8.count >= Self.capacity { try flush() }
    }

    mutating func flush() throws {
        guard !text.isEmpty else { return }
        try console.write(text)
        text.removeAll(keepingCapacity: true)
    }
}
