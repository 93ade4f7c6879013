import Foundation
import SQLiteCipher
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Files are copied between folders in the target's encryption.
@Suite(.ownThreads) struct FolderCopyingTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private static let keys: [UInt8?] = [nil, 10, 90]

    private func open(_ name: String, _ key: UInt8?) throws -> FileFolder {
        try FileFolder(path: folder.file(name), key: key.map { try FolderKind.key($0) })
    }

    @Test(arguments: keys, keys)
    func `a copy has the same name and content`(from: UInt8?, to: UInt8?) throws {
        let source = try open("a-files", from)
        let target = try open("b-files", to)
        for size in [0, 1, 65_536, 2_500_000] {
            let bytes = Files.bytes(size)
            let taken = try source.add(.bytes(bytes))
            var copied = 0
            let sealed = try source.copy(taken.blob, sealed: taken.isSealed, to: target) { copied += $0 }
            #expect(sealed == (to != nil))
            #expect(try Array(target.open(taken.blob, sealed: sealed).read(at: 0, count: .max)) == bytes)
            let (old, new) = try (Files.read(source.path(of: taken.blob)), Files.read(target.path(of: taken.blob)))
            // Two encryptions of the same content differ.
            #expect((old == new) == (from == to))
            #expect(copied == (from == to ? old.count : size))
            #expect(try source.all(taken) == bytes)
        }
        #expect(try Files.below(source.path) == Files.below(target.path))
    }

    @Test func `a plain file in a folder with a key is encrypted when copied and in place`() throws {
        let bytes = Files.bytes(200_000)
        let before = try open("a-files", nil)
        let taken = try before.add(.bytes(bytes))
        let source = try open("a-files", 10)
        let target = try open("b-files", 10)
        #expect(try source.copy(taken.blob, sealed: false, to: target))
        #expect(try Array(target.open(taken.blob, sealed: true).read(at: 0, count: .max)) == bytes)
        let sealed = try source.encrypt(taken.blob, sealed: false)
        #expect(sealed.blob != taken.blob && sealed.isSealed)
        #expect(sealed.size == taken.size && sealed.sha256 == taken.sha256)
        #expect(try source.all(sealed) == bytes && source.all(taken) == bytes)
        #expect(code { try before.encrypt(taken.blob, sealed: false) } == .notEncrypted)
        #expect(code { try before.open(sealed.blob, sealed: true) } == .invalidKey)
        #expect(code { try before.copy(sealed.blob, sealed: true, to: target) } == .invalidKey)
    }

    @Test func `remains of an interrupted copy don't block the next one`() throws {
        let source = try open("a-files", nil)
        var options = FileFolderOptions()
        options.writesUnnamed = false
        let target = FileFolder(path: folder.file("b-files"), key: nil, options: options)
        let (first, second) = (try source.add(.bytes(Files.bytes(1000))), try source.add(.bytes(Files.bytes(2000))))
        try source.copy(first.blob, sealed: false, to: target)
        let shard = target.path + "/" + second.blob.shard
        try FileManager.default.createDirectory(atPath: shard, withIntermediateDirectories: true)
        try Files.write(Files.bytes(500), to: shard + "/" + second.blob.partial)
        try source.copy(second.blob, sealed: false, to: target)
        #expect(try target.all(second) == Files.bytes(2000))
        #expect(try target.sweep { [first.blob, second.blob].contains($0) } == 1)
    }

    @Test(arguments: [true, false]) func `of two writers of one name the first has the file`(
        unnamed: Bool
    ) throws {
        var options = FileFolderOptions()
        options.writesUnnamed = unnamed
        let files = FileFolder(path: folder.file("a-files"), key: nil, options: options)
        let blob = BlobName.random()
        let (first, second) = (try files.makeWriter(key: nil, named: blob), try files.makeWriter(key: nil, named: blob))
        try first.write(Files.bytes(100))
        try second.write(Files.bytes(200))
        let taken = try first.finish()
        #expect(code { _ = try second.finish() } == .ioFailure)
        #expect(try files.all(taken) == Files.bytes(100))
        #expect(try Files.below(files.path).count == 1)
    }

    @Test func `a source that can't be read or a canceled copy leaves nothing in the target`() throws {
        let source = try open("a-files", 10)
        let target = try open("b-files", nil)
        let taken = try source.add(.bytes(Files.bytes(3_000_000)))
        #expect(throws: CancellationError.self) {
            try source.copy(taken.blob, sealed: true, to: target) { _ in throw CancellationError() }
        }
        var bytes = try Files.read(source.path(of: taken.blob))
        bytes[2_500_000] ^= 1
        try Files.write(bytes, to: source.path(of: taken.blob))
        #expect(code { try source.copy(taken.blob, sealed: true, to: target) } == .corrupt)
        #expect(code { try source.copy(.random(), sealed: true, to: target) } == .corrupt)
        #expect(code { try source.copy(taken.blob, sealed: false, to: open("c-files", 10)) } == nil)
        #expect(try Files.below(target.path) == [])
    }

    @Test func `damage, another key and another name are errors that write no content to the disk`() throws {
        let files = try open("a-files", 10)
        let marker = Array("Санкт-Петербург, паспорт 4003 ".utf8)
        let bytes = Array(repeatElement(marker, count: 10_000).joined())
        let first = try files.add(.bytes(bytes))
        let second = try files.add(.bytes(bytes))
        let stored = try Files.read(files.path(of: first.blob))
        #expect(!Data(stored).shows(Data(marker)))
        #expect(!Data(stored).shows(Data(marker.prefix(8))))
        #expect(try Files.read(files.path(of: second.blob)) != stored)
        #expect(code { try open("a-files", 90).open(first.blob, sealed: true) } == .corrupt)
        // The two files are exchanged.
        try Files.write(Files.read(files.path(of: second.blob)), to: files.path(of: first.blob))
        #expect(code { try files.open(first.blob, sealed: true) } == .corrupt)
        try Files.write(Array(stored.dropLast()), to: files.path(of: first.blob))
        #expect(code { try files.open(first.blob, sealed: true) } == .corrupt)
        // The file is truncated while it is open.
        try Files.write(stored, to: files.path(of: first.blob))
        let reading = try files.open(first.blob, sealed: true)
        #expect(truncate(files.path(of: first.blob), 70_000) == 0)
        #expect(code { try reading.read(at: 0, count: .max) } == .corrupt)
        let plain = try open("b-files", nil)
        let taken = try plain.add(.bytes(bytes))
        let cut = try plain.open(taken.blob, sealed: false)
        #expect(truncate(plain.path(of: taken.blob), 70_000) == 0)
        #expect(code { try cut.read(at: 0, count: .max) } == .corrupt)
    }
}
