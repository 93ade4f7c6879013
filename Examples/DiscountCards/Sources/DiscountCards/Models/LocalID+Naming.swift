import Crypto
import Foundation
import Tandem

extension LocalID {
    /// An ID made of what tells an object from others: a person's name, say.
    ///
    /// Two devices that add the same person, each without having heard of the other, add one object and not two: the
    /// second to send it is told that it is there already.
    static func made(of words: String...) -> LocalID {
        var hash = SHA256()
        for word in words {
            let bytes = Array(word.precomposedStringWithCanonicalMapping.utf8)
            // With their number, so that no two lists of words read alike.
            hash.update(data: Data("\(bytes.count):".utf8))
            hash.update(data: bytes)
        }
        var bytes = Array(hash.finalize().prefix(16))
        // A UUID of version 8: made as the app likes (RFC 9562).
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { String(format: "%02x", $0) }.joined()
        var parts: [Substring] = []
        var rest = digits[...]
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return LocalID(parts.joined(separator: "-"))
    }
}

extension Person {
    /// The person of a name, who is added if there is none.
    static func named(_ name: String, in tx: WriteTransaction) throws -> Person {
        try tx.objects(Person.self).where { $0.name == name }.first()
            ?? tx.insert(Person(name: name).identifiedByName)
    }

    /// This person with an ID made of the name.
    var identifiedByName: Person { identified(by: .made(of: "person", name)) }
}

extension Brand {
    /// The brand of a name, which is added if there is none.
    static func named(_ name: String, in tx: WriteTransaction) throws -> Brand {
        try tx.objects(Brand.self).where { $0.name == name }.first() ?? tx.insert(Brand(name: name).identifiedByName)
    }

    /// This brand with an ID made of its name.
    var identifiedByName: Brand { identified(by: .made(of: "brand", name)) }
}
