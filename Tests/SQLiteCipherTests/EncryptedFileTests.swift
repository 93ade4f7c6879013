import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Files are encrypted in chunks", .ownThreads)
struct EncryptedFileTests {
    private let key = try? FileKey(raw: Array(10..<42))

    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

    private func make(_ scratch: Scratch, _ count: Int, context: String = "") throws -> String {
        let path = scratch.path("f\(count).enc")
        let writer = try EncryptedFile.Writer(path: path, key: #require(key), context: context)
        // In pieces of an odd size.
        var rest = bytes(count)[...]
        while !rest.isEmpty {
            try writer.write(Array(rest.prefix(7777)))
            rest = rest.dropFirst(7777)
        }
        try writer.finish()
        return path
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])
    func `file of any size reads back as a whole and in parts`(_ count: Int) throws {
        let scratch = try Scratch()
        let path = try make(scratch, count)
        let reader = try EncryptedFile.Reader(path: path, key: #require(key))
        let expected = bytes(count)
        #expect(reader.size == Int64(count))
        #expect(try Array(reader.read(at: 0, count: count + 10)) == expected)
        for start in [0, 1, count / 2, 65_530, count - 1, count, count + 5] where start >= 0 {
            let part = try reader.read(at: Int64(start), count: 20)
            #expect(Array(part) == Array(expected.dropFirst(start).prefix(20)))
        }
        try EncryptedFile.decrypt(contentsOf: path, to: scratch.path("out"), key: #require(key))
        #expect(try contents(scratch.path("out")) == expected)
        try EncryptedFile.encrypt(contentsOf: scratch.path("out"), to: scratch.path("again"), key: #require(key))
        #expect(try contents(scratch.path("again")) != contents(path))
    }

    @Test func `truncated, extended, reordered or modified file is an error`() throws {
        let scratch = try Scratch()
        let path = try make(scratch, 200_000)
        let good = try contents(path)
        let chunk = 65_552
        var variants: [[UInt8]] = [
            Array(good[..<(48 + chunk)]), Array(good[..<(48 + 2 * chunk)]), Array(good.dropLast()), good + [0],
            Array(good[..<48]), Array(good[..<20]), [], good + good[48...],
        ]
        var swapped = good
        swapped.replaceSubrange(48..<(48 + chunk), with: good[(48 + chunk)..<(48 + 2 * chunk)])
        swapped.replaceSubrange((48 + chunk)..<(48 + 2 * chunk), with: good[48..<(48 + chunk)])
        variants.append(swapped)
        for place in [0, 8, 9, 12, 16, 47, 48, 50_000, 48 + chunk - 1, good.count - 1] {
            var bad = good
            bad[place] ^= 4
            variants.append(bad)
        }
        for bad in variants {
            try write(bad, to: path)
            let error = #expect(throws: CipherError.self) {
                try EncryptedFile.decrypt(contentsOf: path, to: scratch.path("out"), key: #require(key))
            }
            #expect(error?.code == .damagedFile)
            #expect(!FileManager.default.fileExists(atPath: scratch.path("out")))
        }
    }

    @Test func `wrong key or context opens nothing`() throws {
        let scratch = try Scratch()
        let path = try make(scratch, 10, context: "card 1")
        #expect(throws: CipherError.self) {
            try EncryptedFile.Reader(path: path, key: FileKey(raw: Array(0..<32)), context: "card 1")
        }
        #expect(throws: CipherError.self) {
            try EncryptedFile.Reader(path: path, key: #require(key), context: "card 2")
        }
        #expect(try EncryptedFile.Reader(path: path, key: #require(key), context: "card 1").size == 10)
    }

    @Test(arguments: Profile.allCases)
    func `database returns the same file key each time`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        try database.openQueue().write { try $0.fill(rows: 1) }
        let path = scratch.path("f.enc")
        let writer = try EncryptedFile.Writer(path: path, key: database.fileKey())
        try writer.write(Array("hello".utf8))
        try writer.finish()
        let again = try EncryptedDatabase(path: database.path, key: testKey, profile: kind.profile)
        let reader = try EncryptedFile.Reader(path: path, key: again.fileKey())
        #expect(try Array(reader.read(at: 0, count: 9)) == Array("hello".utf8))
    }

    @Test(arguments: Profile.allCases)
    func `key that does not open the database gives no file key`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        func refusal(_ path: String, _ key: CipherKey) -> CipherError.Code? {
            let error = #expect(throws: CipherError.self) {
                try EncryptedDatabase(path: path, key: key, profile: kind.profile).fileKey()
            }
            return error?.code
        }
        #expect(refusal(database.path, testKey) == .cannotOpen)
        try write([], to: database.path)
        #expect(refusal(database.path, testKey) == .notADatabase)
        try database.openQueue().write { try $0.fill(rows: 20) }
        #expect(refusal(database.path, otherKey) == .wrongKey)
        let plain = scratch.path("plain.db")
        try DatabaseQueue(path: plain).write { try $0.fill(rows: 3) }
        #expect(refusal(plain, testKey) == .notEncrypted)
        // A damaged first page does not change the salt and the key.
        let before = try database.fileKey()
        var bytes = try contents(database.path)
        bytes[100] ^= 1
        try write(bytes, to: database.path)
        #expect(try database.fileKey().master == before.master)
    }

    @Test func `two writers of one file do not mix, and the last to finish wins`() throws {
        let scratch = try Scratch()
        let path = scratch.path("f.enc")
        let key = try #require(key)
        let writers = try (0..<3).map { _ in try EncryptedFile.Writer(path: path, key: key) }
        for piece in 0..<50 {
            for (number, writer) in writers.enumerated() {
                try writer.write([UInt8](repeating: UInt8(number), count: 1000 + piece))
            }
        }
        for (number, writer) in writers.enumerated() {
            try writer.finish()
            let reader = try EncryptedFile.Reader(path: path, key: key)
            #expect(try Set(reader.read(at: 0, count: .max)) == [UInt8(number)])
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == ["f.enc"])
    }

    @Test func `existing file under another name is not followed or overwritten`() throws {
        let scratch = try Scratch()
        let path = scratch.path("f.enc")
        try write([1, 2, 3], to: scratch.path("victim"))
        #expect(symlink(scratch.path("victim"), path + ".partial") == 0)
        let writer = try EncryptedFile.Writer(path: path, key: #require(key))
        try writer.write(bytes(100))
        try writer.finish()
        #expect(try contents(scratch.path("victim")) == [1, 2, 3])
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let missing = #expect(throws: CipherError.self) {
            try EncryptedFile.Writer(path: scratch.path("no/such/f"), key: #require(key))
        }
        #expect(missing?.code == .cannotOpen)
    }

    @Test func `released writer leaves no file`() throws {
        let scratch = try Scratch()
        do {
            let writer = try EncryptedFile.Writer(path: scratch.path("f"), key: #require(key))
            try writer.write(bytes(100_000))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == [])
    }

    @Test(arguments: [0, 65_536, 200_000])
    func `file written and read through descriptors leaves them open`(_ count: Int) throws {
        let scratch = try Scratch()
        let path = scratch.path("f.enc")
        let key = try #require(key)
        let output = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try #require(output >= 0)
        do {
            let writer = try EncryptedFile.Writer(descriptor: output, path: path, key: key, context: "card 1")
            try writer.write(bytes(count))
            try writer.finish()
        }
        // The descriptor was not closed.
        #expect(close(output) == 0)
        #expect(
            try Array(EncryptedFile.Reader(path: path, key: key, context: "card 1").read(at: 0, count: .max))
                == bytes(count))
        let input = open(path, O_RDONLY)
        try #require(input >= 0)
        #expect(unlink(path) == 0)
        do {
            // Readers of one descriptor do not interfere with each other.
            let readers = try (0..<2).map { _ in
                try EncryptedFile.Reader(descriptor: input, path: path, key: key, context: "card 1")
            }
            for start in stride(from: 0, to: count, by: 30_000) {
                for reader in readers {
                    let part = try reader.read(at: Int64(start), count: 70_000)
                    #expect(Array(part) == Array(bytes(count).dropFirst(start).prefix(70_000)))
                }
            }
            #expect(lseek(input, 0, SEEK_CUR) == 0)
        }
        #expect(close(input) == 0)
        let other = #expect(throws: CipherError.self) {
            try EncryptedFile.Reader(descriptor: -1, path: "gone", key: key)
        }
        #expect(other?.code == .ioFailure && other?.path == "gone")
    }

    @Test func `writer writes nothing after an error`() throws {
        let scratch = try Scratch()
        let path = scratch.path("f.enc")
        try write([], to: path)
        // A pipe without a reader holds 64 KiB.
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
        let writer = try EncryptedFile.Writer(descriptor: ends[1], path: "pipe", key: #require(key))
        let first = #expect(throws: CipherError.self) { try writer.write(bytes(300_000)) }
        #expect(first?.code == .ioFailure)
        var drain = [UInt8](repeating: 0, count: 1 << 20)
        #expect(read(ends[0], &drain, drain.count) > 0)
        #expect(throws: CipherError.self) { try writer.write(bytes(300_000)) }
        #expect(throws: CipherError.self) { try writer.finish() }
        // No more bytes have arrived.
        #expect(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && read(ends[0], &drain, drain.count) < 0)
        close(ends[0])
        close(ends[1])
    }

    @Test func `full disk is a separate error`() throws {
        let scratch = try Scratch()
        guard let medium = Medium(scratch, options: "size=1m") else {
            try Test.cancel("file systems can't be mounted here")
        }
        let writer = try EncryptedFile.Writer(path: medium.path + "/f.enc", key: #require(key))
        let error = #expect(throws: CipherError.self) { try writer.write(bytes(3_000_000)) }
        #expect(error?.code == .diskFull && error?.advice != nil)
    }

    @Test func `two keys are equal if they open the same files`() throws {
        #expect(try FileKey(raw: Array(10..<42)) == key)
        #expect(try FileKey(raw: Array(11..<43)) != key)
    }
}
