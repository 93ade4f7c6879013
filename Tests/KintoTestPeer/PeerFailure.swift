/// A failure of a command, as a sentence for the script.
struct PeerFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
