import SQLiteCipher

/// Where a store is kept.
enum StoreLocation: Sendable {
    case plain(StorePath)
    case encrypted(StoreCipher)
    case memory

    /// The path as it was given.
    var path: String {
        switch self {
        case .plain(let path): path.given
        case .encrypted(let cipher): cipher.path
        case .memory: ":memory:"
        }
    }

    /// The file itself, whatever links lead to it; `nil` in memory.
    var file: String? {
        switch self {
        case .plain(let path): path.real
        case .encrypted(let cipher): cipher.file
        case .memory: nil
        }
    }

    var cipher: StoreCipher? {
        if case .encrypted(let cipher) = self { cipher } else { nil }
    }

    static func file(_ path: String) -> StoreLocation { .plain(StorePath(path)) }

    static func encrypted(_ path: String, _ key: CipherKey, _ profile: CipherProfile) throws -> StoreLocation {
        .encrypted(try StoreCipher(path: path, key: key, profile: profile))
    }
}
