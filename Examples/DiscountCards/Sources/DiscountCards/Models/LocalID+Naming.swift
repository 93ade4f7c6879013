import Crypto
import Foundation
import Tandem

extension LocalID {
    /// Creates an ID from identifying words: a person's name, for example.
    ///
    /// If two devices add the same person independently, both create the same object. The second insert learns that the
    /// object exists already.
    static func made(of words: String...) -> LocalID {
        var hash = SHA256()
        for word in words {
            let bytes = Array(word.precomposedStringWithCanonicalMapping.utf8)
            // Includes the lengths, so that different lists of words have different hashes.
            hash.update(data: Data("\(bytes.count):".utf8))
            hash.update(data: bytes)
        }
        var bytes = Array(hash.finalize().prefix(16))
        // A UUID of version 8, whose format the app chooses (RFC 9562).
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return LocalID(NSUUID(uuidBytes: bytes).uuidString.lowercased())
    }
}

extension Person {
    /// Returns the person with a name, who is added if missing.
    static func named(_ name: String, in tx: WriteTransaction) throws -> Person {
        try tx.objects(Person.self).where { $0.name == name }.first()
            ?? tx.insert(Person(name: name).identifiedByName)
    }

    /// This person with an ID made from the name.
    var identifiedByName: Person { identified(by: .made(of: "person", name)) }
}

extension Brand {
    /// Returns the brand with a name, which is added if missing.
    static func named(_ name: String, in tx: WriteTransaction) throws -> Brand {
        try tx.objects(Brand.self).where { $0.name == name }.first() ?? tx.insert(Brand(name: name).identifiedByName)
    }

    /// This brand with an ID made from its name.
    var identifiedByName: Brand { identified(by: .made(of: "brand", name)) }
}
