import Foundation
import Tandem

/// An object with files, for processes that are killed while they attach, replace and free them.
package struct PeerFile: PeerModel {
    package var note: String
    package var file: Attachment?
    package var more: [Attachment]
    package var __state = ObjectState()

    package init(note: String, file: Attachment? = nil, more: [Attachment] = []) {
        self.note = note
        self.file = file
        self.more = more
    }
    package init(from decoder: any Decoder) throws {
        self.init(note: "")
        __state = try ObjectState(from: decoder)
    }
    package init(__row row: RowDecoder) throws {
        __state = try row.state
        note = try row.value(0, as: String.self)
        file = try row.value(1, as: Attachment?.self)
        more = try row.value(2, as: [Attachment].self)
    }
    package func __append(to row: RowEncoder) {
        row.append(note, as: String.self)
        row.append(file, as: Attachment?.self)
        row.append(more, as: [Attachment].self)
    }

    package static let __definition = ModelDefinition(
        PeerFile.self, name: "PeerFile",
        properties: [
            PropertyDefinition("note", codec: Codec.of(String.self)),
            PropertyDefinition("file", codec: Codec.of(Attachment?.self)),
            PropertyDefinition("more", codec: Codec.of([Attachment].self), default: { [] }),
        ])

    package struct Columns: ModelColumns {
        package typealias Root = PeerFile
        package init() {}
    }

    /// Attaches a text as a file that waits, as an uploaded file, and as a file without an object.
    package static func fill(_ store: Store, with text: String) throws -> Attachment {
        func attach(_ name: String) throws -> Attachment {
            try store.attachments.add(Data("\(name): \(text)".utf8), name: name)
        }
        let (waiting, uploaded) = (try attach("waiting"), try attach("uploaded"))
        try store.write { tx in
            try tx.insert(PeerFile(note: "new", file: waiting))
            try tx.insert(PeerFile(note: "old", file: uploaded))
            _ = try tx.sync.acknowledgeUpload(of: uploaded.id, at: "https://e.org/\(uploaded.id)", etag: nil)
        }
        return try attach("draft")
    }

    /// Does something with files, as dice say.
    package static func step(_ store: Store, _ random: inout PeerRandom) throws {
        func attach(_ random: inout PeerRandom) throws -> Attachment {
            let count = Int.random(in: 0..<3000, using: &random)
            return try store.attachments.add(
                Data(repeating: UInt8.random(in: 0...255, using: &random), count: count), name: "ფოტო.jpg")
        }
        let some = try store.objects(PeerFile.self).all().randomElement(using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            let files = [try attach(&random), try attach(&random)]
            try store.write { _ = try $0.insert(PeerFile(note: "новый", file: files[0], more: files)) }
        case 2, 3:
            guard let some else { return }
            let file = try attach(&random)
            try store.write { tx in _ = try tx.update(PeerFile.self, localID: some.localID) { $0.file = file } }
        case 4:
            guard let some else { return }
            // The file goes on in another object.
            try store.write { tx in
                try tx.insert(PeerFile(note: "копия", more: [some.file].compactMap { $0 }))
                try tx.delete(some)
            }
        case 5:
            guard let some else { return }
            try store.write { _ = try $0.delete(some) }
        case 6:
            guard let file = some?.file else { return }
            try store.write {
                _ = try $0.sync.acknowledgeUpload(of: file.id, at: "https://e.org/\(file.id)", etag: nil)
            }
            try store.attachments.trimCache()
        default: _ = try attach(&random)
        }
    }
}
