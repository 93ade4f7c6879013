import SQLiteCipher

/// The location of a store.
enum StoreLocation: Sendable {
    case plain(StorePath)
    case encrypted(StoreCipher)
    case memory

    /// The original path.
    var path: String {
        switch self {
        case .plain(let path): path.given
        case .encrypted(let cipher): cipher.path
        case .memory: ":memory:"
        }
    }

    /// The resolved path of the file, without symbolic links, or `nil` in memory.
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

    static func encrypted(_ path: String, key: CipherKey, profile: CipherProfile) throws -> StoreLocation {
        .encrypted(try StoreCipher(path: path, key: key, profile: profile))
    }
}
