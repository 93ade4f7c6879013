import Foundation
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Two threads encrypt the frames of a transaction together", .ownThreads)
struct FrameQueueTests {
    private static let pageSize = 512

    /// A codec that inverts each bit, and records the pages.
    private final class Codec: PageCodec {
        static let worthHelp = 2
        var pages: [UInt32] = []
        var pause: (UInt32) -> Void = { _ in }
        var failing: UInt32?

        func encrypt(_ plain: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) throws {
            pages.append(page)
            pause(page)
            if page == failing { throw CipherError(.ioFailure, message: "No random numbers.") }
            for offset in 0..<pageSize {
                target.storeBytes(
                    of: ~plain.load(fromByteOffset: offset, as: UInt8.self), toByteOffset: offset, as: UInt8.self)
            }
        }

        func decrypt(_ stored: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) -> Bool { false }
    }

    /// The references that a thread takes. The test reads them after the queue and the thread have finished.
    private struct Loan: @unchecked Sendable {
        let queue: FrameQueue
        let codec: Codec
        let ticket: UInt64

        func work() { queue.work(codec, ticket: ticket) }
    }

    private func queue(_ capacity: Int = 16) -> FrameQueue {
        FrameQueue(capacity: capacity, frameSize: LogFile.frameHeaderSize + Self.pageSize)
    }

    /// Adds a frame whose page is filled with its number.
    private func add(_ frame: Int, to queue: FrameQueue) {
        var header = [UInt8](repeating: 0, count: LogFile.frameHeaderSize)
        header[3] = UInt8(frame)
        let page = [UInt8](repeating: UInt8(frame), count: Self.pageSize)
        header.withUnsafeBytes { header in
            page.withUnsafeBytes { queue.add(frame, header: FrameHeader(header.baseAddress!), page: $0.baseAddress!) }
        }
    }

    private func bytes(_ queue: FrameQueue, _ index: Int) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: queue.frame(index) + LogFile.frameHeaderSize, count: Self.pageSize))
    }

    @Test func `each frame is encrypted once by either thread`() throws {
        var helped = 0
        let queue = queue()
        for round in 0..<400 {
            let (mine, helper) = (Codec(), Codec())
            let count = 1 + round % 16
            let called = round % 5
            for frame in 1...count {
                #expect(queue.hasRoom(for: frame))
                add(frame, to: queue)
                guard frame == called else { continue }
                let loan = Loan(queue: queue, codec: helper, ticket: queue.lend())
                Thread { loan.work() }.start()
                if round % 3 == 0 { usleep(100) }
            }
            try queue.finish(with: mine)
            #expect((mine.pages + helper.pages).sorted() == (1...UInt32(count)).map { $0 })
            for index in 0..<count {
                #expect(bytes(queue, index) == [UInt8](repeating: ~UInt8(index + 1), count: Self.pageSize))
            }
            helped += helper.pages.count
            queue.clear()
            #expect(queue.count == 0)
        }
        #expect(helped > 0)
    }

    @Test func `helper that comes late, or to a queue that was lent again, does nothing`() throws {
        let queue = queue()
        let (mine, late, other) = (Codec(), Codec(), Codec())
        for frame in 1...3 { add(frame, to: queue) }
        let first = Loan(queue: queue, codec: late, ticket: queue.lend())
        try queue.finish(with: mine)
        #expect(mine.pages == [3, 2, 1])
        first.work()
        queue.clear()
        for frame in 4...6 { add(frame, to: queue) }
        let second = Loan(queue: queue, codec: other, ticket: queue.lend())
        first.work()
        #expect(late.pages.isEmpty)
        second.work()
        try queue.finish(with: mine)
        #expect(other.pages == [4, 5, 6] && mine.pages == [3, 2, 1])
    }

    @Test func `frame that the helper has begun is waited for`() throws {
        let queue = queue()
        let (mine, helper) = (Codec(), Codec())
        let arrived = DispatchSemaphore(value: 0)
        helper.pause = { _ in
            arrived.signal()
            usleep(20_000)
        }
        for frame in 1...3 { add(frame, to: queue) }
        let loan = Loan(queue: queue, codec: helper, ticket: queue.lend())
        Thread { loan.work() }.start()
        arrived.wait()
        try queue.finish(with: mine)
        #expect(helper.pages == [1] && mine.pages == [3, 2])
        #expect(bytes(queue, 0) == [UInt8](repeating: ~1, count: Self.pageSize))
    }

    @Test func `page that can't be encrypted is an error on either thread, and is wiped`() throws {
        for isHelper in [false, true] {
            let queue = queue()
            let (mine, helper) = (Codec(), Codec())
            (isHelper ? helper : mine).failing = isHelper ? 1 : 4
            for frame in 1...4 { add(frame, to: queue) }
            let loan = Loan(queue: queue, codec: helper, ticket: queue.lend())
            if isHelper { loan.work() }
            #expect(throws: CipherError.self) { try queue.finish(with: mine) }
            queue.clear()
            #expect(bytes(queue, isHelper ? 0 : 3) == [UInt8](repeating: 0, count: Self.pageSize))
            // The next transaction is not affected.
            mine.failing = nil
            add(9, to: queue)
            try queue.finish(with: mine)
            #expect(bytes(queue, 0) == [UInt8](repeating: ~9, count: Self.pageSize))
        }
    }

    @Test func `queue has room for the next frame up to its capacity`() {
        let queue = queue(2)
        #expect(queue.hasRoom(for: 7))
        add(7, to: queue)
        #expect(queue.hasRoom(for: 8) && !queue.hasRoom(for: 7) && !queue.hasRoom(for: 9))
        add(8, to: queue)
        #expect(!queue.hasRoom(for: 9))
    }
}
