import Dispatch
import Foundation

/// Decrypts pages that are read ahead, and encrypts those of a transaction, on another thread, one job after another.
///
/// `@unchecked Sendable`: `codec`, the only part that is not, is used in blocks of a serial queue alone.
final class Helper: @unchecked Sendable {
    static let isUseful = ProcessInfo.processInfo.activeProcessorCount > 1

    let salt: [UInt8]
    private let codec: any PageCodec
    /// On a global queue, which has as many threads as there are cores, however many connections there are.
    private let queue = DispatchQueue(label: "SQLiteCipher.Helper", target: .global(qos: .userInitiated))

    init(codec: any PageCodec, salt: [UInt8]) {
        self.codec = codec
        self.salt = salt
    }

    func take(_ batch: PageBatch) {
        batch.lend()
        queue.async { batch.work(self.codec) }
    }

    func take(_ frames: FrameQueue) {
        let ticket = frames.lend()
        queue.async { frames.work(self.codec, ticket: ticket) }
    }
}
