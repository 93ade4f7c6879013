import Tandem

/// A note as the script compares it with the server's record: with the same members.
struct DumpedNote: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id, tag, title, c0, c1, c2, c3, c4, c5, c6, c7, topic
    }

    private let note: KintoNote
    /// The server ID of the note's topic.
    private let topic: ServerID?

    init(_ note: KintoNote, in transaction: ReadTransaction) throws {
        self.note = note
        topic = try transaction.object(note.topic)?.serverID
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        // An unsent note gets an ID that no record has.
        try container.encode(note.serverID?.rawValue ?? "unsent \(note.localID)", forKey: .id)
        try container.encode(note.tag, forKey: .tag)
        try container.encode(note.title, forKey: .title)
        let keys: [CodingKeys] = [.c0, .c1, .c2, .c3, .c4, .c5, .c6, .c7]
        for (key, counter) in zip(keys, note.counters) { try container.encode(counter, forKey: key) }
        try container.encode(topic?.rawValue, forKey: .topic)
    }
}
