/// A key under which an object is cached: its model, and one of its IDs.
struct CacheKey {
    /// The property that holds the ID.
    enum Kind: UInt64, Sendable {
        case localID
        case serverID
    }

    let model: ObjectIdentifier
    let kind: Kind
    private(set) var text: String
    let hash: UInt64

    @inline(__always)
    init<M: Model>(_ model: M.Type, kind: Kind, text: String) {
        self.model = ObjectIdentifier(model)
        self.kind = kind
        var text = text
        hash = text.withUTF8 { [id = self.model] in Self.hash($0, model: id, kind: kind) }
        self.text = text
    }

    /// Returns an equal key that shares the ID's text with an object. A look-up that compares the texts then reads
    /// memory that the copy of the object needs anyway.
    func sharingText<M: Model>(of object: M) -> CacheKey {
        let text = kind == .localID ? object.localID.rawValue : object.serverID?.rawValue
        guard let text, ScalarText.isEqual(text, self.text) else { return self }
        var key = self
        key.text = text
        return key
    }

    /// Hashes an ID by its bytes. The result is never 0.
    ///
    /// It includes random keys of the process, so that a server can't choose IDs with equal hashes. The mixing is a
    /// variant of wyhash's (Wang Yi, https://github.com/wangyi-fudan/wyhash). Equal hashes of different IDs are
    /// harmless: the texts are compared.
    @inline(__always)
    static func hash(_ bytes: UnsafeBufferPointer<UInt8>, model: ObjectIdentifier, kind: Kind) -> UInt64 {
        let keys = hashKeys
        func mix(_ hash: UInt64, with word: UInt64) -> UInt64 {
            let product = (hash ^ keys.0).multipliedFullWidth(by: word ^ keys.1)
            return product.low ^ product.high ^ (hash << 23 | hash >> 41)
        }
        let raw = UnsafeRawBufferPointer(bytes)
        var hash = mix(UInt64(UInt(bitPattern: model)), with: UInt64(raw.count) << 1 | kind.rawValue)
        var offset = 0
        while offset &+ 8 <= raw.count {
            hash = mix(hash, with: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset &+= 8
        }
        var tail: UInt64 = 0
        while offset < raw.count {
            tail = tail << 8 | UInt64(raw[offset])
            offset &+= 1
        }
        return mix(hash, with: tail) | 1
    }
}

/// The keys of ``CacheKey/hash(_:model:kind:)``, which are random in each process.
private let hashKeys = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
