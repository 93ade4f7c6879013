import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Two threads decrypt the pages of a batch together", .ownThreads)
struct PageBatchTests {
    /// A codec that inverts each bit, and counts. A page whose first byte is 0xEE is not authentic.
    private final class Codec: PageCodec {
        static let worthHelp = 2
        var pages: [UInt32] = []
        var pause: (UInt32) -> Void = { _ in }

        func encrypt(_ plain: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) {}

        func decrypt(_ stored: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) -> Bool {
            pages.append(page)
            pause(page)
            if stored.load(as: UInt8.self) == 0xEE { return false }
            for offset in 0..<512 {
                target.storeBytes(
                    of: ~stored.load(fromByteOffset: offset, as: UInt8.self), toByteOffset: offset, as: UInt8.self)
            }
            return true
        }
    }

    /// The references that a thread takes. The test waits for the thread before it reads them.
    private struct Loan: @unchecked Sendable {
        let batch: PageBatch
        let codec: Codec
    }

    private let scratch: Scratch
    private let file: FileBelow
    private let count = 64

    init() throws {
        scratch = try Scratch()
        try write((0..<count * 512).map { UInt8(truncatingIfNeeded: $0 / 512) }, to: scratch.path("f"))
        file = try FileBelow(scratch.path("f"))
    }

    private func take(_ batch: PageBatch, _ index: Int, _ codec: Codec) throws -> [UInt8]? {
        var page = [UInt8](repeating: 0, count: 512)
        let isHere = try page.withUnsafeMutableBytes {
            batch.copyPage(index, to: try #require($0.baseAddress), with: codec) {
                batch.decryptOne(from: index + 1, with: codec)
            }
        }
        return isHere ? page : nil
    }

    @Test func `each page is decrypted once by either thread`() throws {
        var taken = 0
        for _ in 0..<200 {
            let batch = PageBatch(capacity: count, pageSize: 512)
            #expect(batch.fill(from: file.base, first: 1, count: count))
            let (mine, helper) = (Codec(), Codec())
            batch.lend()
            let loan = Loan(batch: batch, codec: helper)
            let thread = Thread { loan.batch.work(loan.codec) }
            thread.start()
            for index in 0..<count {
                // If the other thread lost its core during a page, the page is not available.
                guard let page = try take(batch, index, mine) else { continue }
                taken += 1
                #expect(page == [UInt8](repeating: ~UInt8(index), count: 512))
            }
            while batch.isLent { usleep(10) }
            #expect((mine.pages + helper.pages).sorted() == (1...64).map { UInt32($0) })
        }
        #expect(taken > 100 * count)
    }

    @Test func `stuck helper blocks no reader, and an unwanted batch is left`() throws {
        let batch = PageBatch(capacity: count, pageSize: 512)
        #expect(batch.fill(from: file.base, first: 1, count: count))
        let (mine, helper) = (Codec(), Codec())
        let (arrived, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        helper.pause = { page in
            guard page == 1 else { return }
            arrived.signal()
            release.wait()
        }
        batch.lend()
        let loan = Loan(batch: batch, codec: helper)
        let thread = Thread { loan.batch.work(loan.codec) }
        thread.start()
        arrived.wait()
        #expect(try take(batch, 0, mine) == nil)
        // The others were decrypted in the meantime.
        #expect(mine.pages == (2...64).map { UInt32($0) })
        #expect(try take(batch, 5, mine) == [UInt8](repeating: ~5, count: 512))
        #expect(batch.isLent)
        batch.abandon()
        release.signal()
        while batch.isLent { usleep(10) }
        #expect(helper.pages == [1])
    }

    @Test func `page that is not authentic is not returned and not tried again`() throws {
        var bytes = try contents(scratch.path("f"))
        bytes[3 * 512] = 0xEE
        try write(bytes, to: scratch.path("f"))
        let batch = PageBatch(capacity: count, pageSize: 512)
        let codec = Codec()
        #expect(batch.fill(from: file.base, first: 1, count: count))
        batch.lend()
        batch.work(codec)
        #expect(try take(batch, 3, codec) == nil)
        #expect(try take(batch, 4, codec) == [UInt8](repeating: ~4, count: 512))
        #expect(codec.pages.count == count)
    }
}
