import Crypto
import Foundation

/// Pages in AES-256-GCM, format 1:
///
/// ```
/// nonce (12) | ciphertext | tag (16) | format (1) | epoch (3, little endian)
/// ```
///
/// What is encrypted is the page and, behind it, its number (4, little endian): a page that was moved within its file
/// tells another number than its place has. The key comes of the file's salt and the epoch, so that a page of another
/// file, or under another epoch's name, is not authentic. Page 1 begins with the salt in the clear, where a plain
/// database has a constant, and has the nonce behind it.
///
/// The number is a part of the message rather than "associated data", and the parts lie as swift-crypto takes them,
/// because that spares a third of the time that a page takes.
///
/// The nonces are random, and so may meet by chance: after n pages under one key with probability n² / 2⁹⁷. Each codec
/// (a connection has one, and its helper another) therefore writes under an *epoch*, a key of its own that it picks at
/// random among 2²⁴ and leaves after 2²⁰ pages. A store that had a pebibyte written to it (2³⁸ pages) would have seen a
/// nonce twice with a probability below 2⁻³⁸, and used each key for 2²⁰ pages or a small multiple, where NIST SP 800-38D
/// allows 2³².
final class GCMCodec: PageCodec {
    static let format: UInt8 = 1
    static let worthHelp = 16
    static let pagesPerEpoch = 1 << 20
    private static let nonceSize = 12
    private static let tagSize = 16
    /// What a page has beyond what SQLite uses of it: nonce, page number, tag, format and epoch.
    static let overhead = 36
    private static let numberSize = 4
    /// How many epochs' keys are kept: reading a file that thousands of connections wrote takes constant memory.
    private static let keptEpochs = 4096

    private let extracted: SymmetricKey
    private let pageSize: Int
    private let random = RandomPool()
    private let salt: [UInt8]
    /// The page and its number, to be encrypted in one piece.
    private let message: UnsafeMutableRawBufferPointer

    private var keys: [UInt32: SymmetricKey] = [:]
    private var readEpoch = UInt32.max
    private var readKey: SymmetricKey
    private var writeEpoch = UInt32.max
    private var writeKey: SymmetricKey
    private var writesLeft = 0
    private var generation = Fork.generation

    init(extracted: SymmetricKey, salt: [UInt8], pageSize: Int) {
        self.extracted = extracted
        self.pageSize = pageSize
        readKey = extracted
        writeKey = extracted
        self.salt = salt
        message = .allocate(byteCount: pageSize, alignment: 16)
    }

    deinit {
        message.wipe()
        message.deallocate()
    }

    /// The part of a plain page that is encrypted: all but the constant of page 1, and what SQLite leaves to us.
    private func body(_ page: UInt32) -> Range<Int> {
        (page == 1 ? PageLayout.saltSize : 0)..<pageSize - Self.overhead
    }

    private func key(epoch: UInt32) -> SymmetricKey {
        if let known = keys[epoch] { return known }
        if keys.count >= Self.keptEpochs { keys.removeAll(keepingCapacity: true) }
        let made = DerivedKeys.pageKey(extracted, epoch: epoch)
        keys[epoch] = made
        return made
    }

    private func startEpoch() throws {
        var word: UInt32 = 0
        try withUnsafeMutableBytes(of: &word) { try random.fill($0) }
        writeEpoch = word & 0xFF_FFFF
        writeKey = key(epoch: writeEpoch)
        writesLeft = Self.pagesPerEpoch
        generation = Fork.generation
    }

    func encrypt(_ plain: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) throws {
        if writesLeft == 0 || generation != Fork.generation { try startEpoch() }
        writesLeft -= 1
        let body = body(page)
        message.baseAddress!.copyMemory(from: plain + body.lowerBound, byteCount: body.count)
        message.storeBytes(of: page.littleEndian, toByteOffset: body.count, as: UInt32.self)
        let nonce = UnsafeMutableRawBufferPointer(start: target + body.lowerBound, count: Self.nonceSize)
        try random.fill(nonce)
        let sealed = try AES.GCM.seal(
            UnsafeRawBufferPointer(rebasing: message[..<(body.count + Self.numberSize)]),
            using: writeKey, nonce: AES.GCM.Nonce(data: UnsafeRawBufferPointer(nonce)))
        guard let combined = sealed.combined else {
            throw CipherError(.ioFailure, "A page was encrypted under a nonce of a wrong size.")
        }
        if page == 1 { salt.withUnsafeBytes { target.copyMemory(from: $0.baseAddress!, byteCount: $0.count) } }
        combined.copy(to: target + body.lowerBound)
        let word = (UInt32(Self.format) | writeEpoch << 8).littleEndian
        target.storeBytes(of: word, toByteOffset: pageSize - 4, as: UInt32.self)
    }

    func decrypt(_ stored: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) -> Bool {
        let body = body(page)
        let word = UInt32(littleEndian: (stored + pageSize - 4).loadUnaligned(as: UInt32.self))
        guard UInt8(truncatingIfNeeded: word) == Self.format else { return false }
        if word >> 8 != readEpoch {
            readEpoch = word >> 8
            readKey = key(epoch: readEpoch)
        }
        let combined = UnsafeRawBufferPointer(
            start: stored + body.lowerBound, count: Self.nonceSize + body.count + Self.numberSize + Self.tagSize)
        guard let box = try? AES.GCM.SealedBox(combined: combined),
            let plain = try? AES.GCM.open(box, using: readKey)
        else { return false }
        let isInPlace = plain.withUnsafeBytes { bytes in
            guard bytes.count == body.count + Self.numberSize, let start = bytes.baseAddress,
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: body.count, as: UInt32.self)) == page
            else { return false }
            (target + body.lowerBound).copyMemory(from: start, byteCount: body.count)
            return true
        }
        guard isInPlace else { return false }
        if page == 1 { PageLayout.magic.withUnsafeBytes { target.copyMemory(from: $0.baseAddress!, byteCount: 16) } }
        memset(target + body.upperBound, 0, Self.overhead)
        return true
    }
}

extension Data {
    func copy(to target: UnsafeMutableRawPointer) {
        withUnsafeBytes { source in
            if let start = source.baseAddress { target.copyMemory(from: start, byteCount: source.count) }
        }
    }
}
