/// Encrypts and decrypts pages of one file for one connection.
///
/// A codec has scratch memory and random bytes of its own, and is used by one thread at a time, as SQLite uses the
/// files of a connection.
protocol PageCodec: AnyObject {
    /// How many pages there must be to be encrypted before another core is worth its call, which takes as long as some.
    static var worthHelp: Int { get }

    /// Encrypts a page for a place, in place too. If it throws, what stands in `target` is no page.
    func encrypt(_ plain: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) throws

    /// Decrypts a page, in place too, and tells whether it is authentic.
    ///
    /// If it is not, what stands in `target` is no page and must not reach SQLite.
    func decrypt(_ stored: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) -> Bool
}

enum PageLayout {
    /// What each plain database begins with, and what the salt stands in for.
    static let magic = Array("SQLite format 3\0".utf8)
    static let saltSize = 16

    static func codec(_ keys: DerivedKeys, _ profile: CipherProfile) -> any PageCodec {
        switch keys.material {
        case .gcm(let extracted): GCMCodec(extracted: extracted, salt: keys.salt, pageSize: profile.pageSize)
        case .sqlCipher(let page, let mac):
            SQLCipherCodec(pageKey: page, macKey: mac, salt: keys.salt, pageSize: profile.pageSize)
        }
    }

    static func isMagic(_ bytes: UnsafeRawPointer) -> Bool {
        magic.withUnsafeBytes { $0.elementsEqual(UnsafeRawBufferPointer(start: bytes, count: saltSize)) }
    }
}
