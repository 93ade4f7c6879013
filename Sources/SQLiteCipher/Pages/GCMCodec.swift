import Crypto
import Foundation

/// A codec for pages in AES-256-GCM, format 1:
///
/// ```
/// nonce (12) | ciphertext | tag (16) | format (1) | epoch (3, little endian)
/// ```
///
/// The encrypted message is the page followed by its page number (4, little endian). A page that was moved within its
/// file therefore carries the wrong number. The key depends on the file's salt and the epoch. A page of another file or
/// epoch is therefore not authentic. Page 1 begins with the salt in plaintext, where a plain database has a constant.
/// Its nonce follows the salt.
///
/// The page number is part of the message and not "associated data". The parts are in the order of swift-crypto's
/// combined form. Together, this saves a third of the time per page.
///
/// Random nonces can collide: after n pages under the same key with probability n² / 2⁹⁷. Each codec (a connection has
/// one, and its worker another) therefore writes under an *epoch*. An epoch is a key that the codec picks at random
/// among 2²⁴, and replaces after 2²⁰ pages. After a pebibyte of writes (2³⁸ pages), the probability of a repeated nonce
/// is below 2⁻³⁸. Each key is then used for 2²⁰ pages or a small multiple, where NIST SP 800-38D allows 2³².
final class GCMCodec: PageCodec {
    static let format: UInt8 = 1
    static let worthHelp = 16
    static let pagesPerEpoch = 1 << 20
    private static let nonceSize = 12
    private static let tagSize = 16
    /// The bytes of a page that SQLite does not use: nonce, page number, tag, format and epoch.
    static let overhead = 36
    private static let numberSize = 4
    /// The number of cached epoch keys. The limit bounds the memory for a file that thousands of connections wrote.
    private static let keptEpochs = 4096

    private let extracted: SymmetricKey
    private let pageSize: Int
    private let random = RandomPool()
    private let salt: [UInt8]
    /// A buffer for the page and its number, which are encrypted as a single message.
    private let message: UnsafeMutableRawBufferPointer

    private var keys: [UInt32: SymmetricKey] = [:]
    private var readEpoch = UInt32.max
    private var readKey: SymmetricKey
    private var writeEpoch = UInt32.max
    private var writeKey: SymmetricKey
    private var writesLeft = 0
    private var generation = ForkDetector.generation

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

    /// Returns the encrypted range of a page: all except the constant of page 1 and the reserved bytes.
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
        generation = ForkDetector.generation
    }

    func encrypt(_ plain: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) throws {
        if writesLeft == 0 || generation != ForkDetector.generation { try startEpoch() }
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
            throw CipherError(.ioFailure, message: "A page was encrypted with a nonce of the wrong size.")
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
