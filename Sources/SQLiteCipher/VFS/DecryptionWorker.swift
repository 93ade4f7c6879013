import Dispatch
import Foundation

/// A worker on another thread that encrypts and decrypts pages, one job at a time.
///
/// It decrypts pages for read-ahead, and encrypts the pages of a transaction.
///
/// `@unchecked Sendable`: only `codec` is not `Sendable`, and only blocks of a serial queue use it.
final class DecryptionWorker: @unchecked Sendable {
    static let isUseful = ProcessInfo.processInfo.activeProcessorCount > 1

    let salt: [UInt8]
    private let codec: any PageCodec
    /// The queue targets a global queue, which limits the threads to the number of cores, however many connections
    /// exist.
    private let queue = DispatchQueue(label: "SQLiteCipher.DecryptionWorker", target: .global(qos: .userInitiated))

    init(codec: any PageCodec, salt: [UInt8]) {
        self.codec = codec
        self.salt = salt
    }

    func enqueue(_ batch: PageBatch) {
        batch.lend()
        queue.async { batch.work(self.codec) }
    }

    func enqueue(_ frames: FrameQueue) {
        let ticket = frames.lend()
        queue.async { frames.work(self.codec, ticket: ticket) }
    }
}
