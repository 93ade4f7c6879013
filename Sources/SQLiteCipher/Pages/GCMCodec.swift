import Crypto
import Foundation

/// Pages in AES-256-GCM, format 1:
///
/// ```
/// ciphertext | nonce (12) | tag (16) | format (1) | epoch (3, little endian)
/// ```
///
/// Page 1 begins with the file's 16-byte salt in the clear, where a plain database has a constant. Authenticated beside
/// the page: salt, page number (4, little endian), format and epoch. So a page can't be moved within its file, nor to
/// another, though both have the same key.
///
/// The nonces are random, and so may meet by chance: after n pages under one key with probability n² / 2⁹⁷. Each
/// connection therefore writes under an *epoch*, a key of its own that it picks at random among 2²⁴ and leaves after
/// 2²⁰ pages. A store that had a pebibyte written to it (2³⁸ pages) would have seen a nonce twice with a probability
/// below 2⁻³⁸, and used each key for 2²⁰ pages or a small multiple, where NIST SP 800-38D allows 2³².
final class GCMCodec: PageCodec {
    static let format: UInt8 = 1
    static let pagesPerEpoch = 1 << 20
    private static let nonceSize = 12
    private static let tagSize = 16
    private static let trailerSize = 32
    /// How many epochs' keys are kept: reading a file that thousands of connections wrote takes constant memory.
    private static let keptEpochs = 4096

    private let extracted: SymmetricKey
    private let pageSize: Int
    private let random = RandomPool()
    /// salt (16) | page number (4) | format and epoch (4)
    private let associated = UnsafeMutableRawBufferPointer.allocate(byteCount: 24, alignment: 8)
    /// nonce | ciphertext | tag, as swift-crypto takes them.
    private let scratch: UnsafeMutableRawBufferPointer

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
        scratch = .allocate(byteCount: pageSize, alignment: 16)
        associated.copyBytes(from: salt)
    }

    deinit {
        associated.deallocate()
        scratch.deallocate()
    }

    /// The part of the page that is encrypted: all but the salt of page 1, and the trailer.
    private func body(_ page: UInt32) -> Range<Int> {
        (page == 1 ? PageLayout.saltSize : 0)..<pageSize - Self.trailerSize
    }

    private func associate(page: UInt32, epochWord: UInt32) -> UnsafeRawBufferPointer {
        associated.storeBytes(of: page.littleEndian, toByteOffset: 16, as: UInt32.self)
        associated.storeBytes(of: epochWord, toByteOffset: 20, as: UInt32.self)
        return UnsafeRawBufferPointer(associated)
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
        let nonceStart = body.upperBound
        let nonceBytes = UnsafeMutableRawBufferPointer(start: target + nonceStart, count: Self.nonceSize)
        try random.fill(nonceBytes)
        let word = (UInt32(Self.format) | writeEpoch << 8).littleEndian
        let sealed = try AES.GCM.seal(
            UnsafeRawBufferPointer(start: plain + body.lowerBound, count: body.count),
            using: writeKey, nonce: AES.GCM.Nonce(data: UnsafeRawBufferPointer(nonceBytes)),
            authenticating: associate(page: page, epochWord: word))
        if page == 1 { memcpy(target, associated.baseAddress!, PageLayout.saltSize) }
        sealed.ciphertext.copy(to: target + body.lowerBound)
        sealed.tag.copy(to: target + nonceStart + Self.nonceSize)
        (target + nonceStart + Self.nonceSize + Self.tagSize).storeBytes(of: word, as: UInt32.self)
    }

    func decrypt(_ stored: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) -> Bool {
        let body = body(page)
        let nonceStart = body.upperBound
        let word = (stored + pageSize - 4).loadUnaligned(as: UInt32.self)
        guard UInt8(truncatingIfNeeded: UInt32(littleEndian: word)) == Self.format else { return false }
        let epoch = UInt32(littleEndian: word) >> 8
        if epoch != readEpoch {
            readKey = key(epoch: epoch)
            readEpoch = epoch
        }
        memcpy(scratch.baseAddress!, stored + nonceStart, Self.nonceSize)
        memcpy(scratch.baseAddress! + Self.nonceSize, stored + body.lowerBound, body.count)
        let tagStart = Self.nonceSize + body.count
        memcpy(scratch.baseAddress! + tagStart, stored + nonceStart + Self.nonceSize, Self.tagSize)
        let combined = UnsafeRawBufferPointer(rebasing: scratch[..<(tagStart + Self.tagSize)])
        guard let box = try? AES.GCM.SealedBox(combined: combined),
            let plain = try? AES.GCM.open(
                box, using: readKey, authenticating: associate(page: page, epochWord: word))
        else { return false }
        if page == 1 { PageLayout.magic.withUnsafeBytes { target.copyMemory(from: $0.baseAddress!, byteCount: 16) } }
        plain.copy(to: target + body.lowerBound)
        memset(target + body.upperBound, 0, Self.trailerSize)
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
