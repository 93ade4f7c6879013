/// A codec that encrypts and decrypts the pages of a file for a connection.
///
/// A codec has its own scratch memory and random bytes. Use it in only one thread at a time, as SQLite uses a
/// connection's files.
protocol PageCodec: AnyObject {
    /// The number of pages from which a second core is worth the cost of calling it.
    static var worthHelp: Int { get }

    /// Encrypts a page for a page number. Source and target may be the same memory. If it throws, the content of
    /// `target` is undefined.
    func encrypt(_ plain: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) throws

    /// Decrypts a page and returns whether it is authentic. Source and target may be the same memory.
    ///
    /// If it is not authentic, the content of `target` is undefined and must not reach SQLite.
    func decrypt(_ stored: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) -> Bool
}

enum PageLayout {
    /// The first 16 bytes of each plain database. The salt replaces them in an encrypted one.
    static let magic = Array("SQLite format 3\0".utf8)
    static let saltSize = 16

    static func codec(_ keys: DerivedKeys, profile: CipherProfile) -> any PageCodec {
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
