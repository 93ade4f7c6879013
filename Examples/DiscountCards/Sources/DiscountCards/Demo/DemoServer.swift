/// A server for the second act, which has the network problems that the story requires.
protocol DemoServer: Sendable {
    /// The server's name in the story, as the beginning of a sentence.
    var title: String { get }
    /// The address for `cards login`.
    var url: String { get }

    /// Takes the server off the network.
    func close() async throws

    /// Returns the server to the network, at the same address and with its data.
    func reopen() async throws

    /// Loses the response to the next new object.
    func loseNextResponse() async throws

    /// Returns the number of rows of a table, without deleted ones.
    func count(of table: String) async throws -> Int

    /// Returns the SHA-256 digests of the stored photographs, in hexadecimal digits.
    func photographs() async throws -> [String]

    /// Returns the cards as all devices should have them, by number.
    func cards() async throws -> [SharedCard]
}
