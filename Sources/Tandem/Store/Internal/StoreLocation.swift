import SQLiteCipher

/// Where a store is kept.
enum StoreLocation: Sendable {
    case file(String)
    case encrypted(StoreCipher)
    case memory

    var path: String {
        switch self {
        case .file(let path): path
        case .encrypted(let cipher): cipher.path
        case .memory: ":memory:"
        }
    }

    /// The path, if it is a file's.
    var file: String? {
        if case .memory = self { nil } else { path }
    }

    var cipher: StoreCipher? {
        if case .encrypted(let cipher) = self { cipher } else { nil }
    }

    static func encrypted(_ path: String, _ key: CipherKey, _ profile: CipherProfile) throws -> StoreLocation {
        .encrypted(try StoreCipher(path: path, key: key, profile: profile))
    }
}
