import Crypto
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Files that are written in pieces, some of them never completed.
@Suite(.startsProcesses, .ownThreads) struct BlobWriterTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    @Test(arguments: FolderKind.allCases)
    func `a dropped file leaves nothing and has at most a partial name before`(kind: FolderKind) throws {
        let files = try kind.open(folder.file("a-files"))
        do {
            let writer = try files.makeWriter()
            try writer.write(Files.bytes(2_000_000))
            let names = try Files.below(files.path)
            #expect(names.allSatisfy { $0.hasSuffix(".partial") })
            #expect(names.count == (kind == .plainPartial || kind == .encryptedPartial ? 1 : 0))
        }
        #expect(try Files.below(files.path) == [])
        #expect(throws: CancellationError.self) {
            let writer = try files.makeWriter()
            try writer.write(Files.bytes(2_000_000))
            throw CancellationError()
        }
        #expect(try Files.below(files.path) == [])
    }

    @Test(arguments: FolderKind.allCases)
    func `a size or hash that does not match is refused and nothing is kept`(kind: FolderKind) throws {
        let files = try kind.open(folder.file("a-files"))
        let bytes = Files.bytes(100_000)
        let hash = Array(SHA256.hash(data: bytes))
        var wrong = hash
        wrong[31] ^= 1
        let expectations: [(Int64?, [UInt8]?)] = [
            (99_999, nil), (100_001, nil), (0, nil), (-1, hash), (nil, wrong), (100_000, wrong), (nil, []),
            (nil, Array(hash.dropLast())),
        ]
        for (size, hash) in expectations {
            let writer = try files.makeWriter()
            try writer.write(bytes)
            let error = #expect(throws: TandemError.self) { try writer.finish(expecting: size, sha256: hash) }
            #expect(error?.code == .fileMismatch && error?.advice != nil)
            #expect(try Files.below(files.path) == [])
            // The file can't be continued.
            #expect(code { try writer.write([1]) } == .fileMismatch)
            #expect(code { try writer.finish() } == .fileMismatch)
        }
        let writer = try files.makeWriter()
        try writer.write(bytes)
        let taken = try writer.finish(expecting: 100_000, sha256: hash)
        #expect(try files.all(taken) == bytes)
        #expect(code { try writer.finish() } == .closed)
        #expect(code { try writer.write([1]) } == .closed)
        #expect(try files.all(taken) == bytes)
    }

    @Test(arguments: FolderKind.allCases)
    func `a file above its limit is refused before it is written`(kind: FolderKind) throws {
        let files = try kind.open(folder.file("a-files"))
        let writer = try files.makeWriter(atMost: 100_000)
        try writer.write(Files.bytes(100_000))
        #expect(code { try writer.write([1]) } == .fileMismatch)
        #expect(code { try writer.finish() } == .fileMismatch)
        #expect(try Files.below(files.path) == [])
        let exact = try files.makeWriter(atMost: 100_000)
        for _ in 0..<100 { try exact.write(Files.bytes(1000)) }
        #expect(try exact.finish().size == 100_000)
    }

    @Test(arguments: FolderKind.allCases)
    func `several files in several tasks don't mix`(kind: FolderKind) async throws {
        let files = try kind.open(folder.file("a-files"))
        let taken = try await withThrowingTaskGroup(of: (Int, StoredBlob).self) { group in
            for number in 0..<8 {
                group.addTask {
                    let writer = try files.makeWriter()
                    for piece in 0..<20 {
                        try writer.write([UInt8](repeating: UInt8(number), count: 10_000 + piece))
                        await Task.yield()
                    }
                    return (number, try writer.finish())
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for (number, taken) in taken { #expect(try Set(files.all(taken)) == [UInt8(number)]) }
        #expect(try Files.below(files.path).count == 8)
    }

    @Test(arguments: FolderKind.allCases, ["size=2m", "size=64m,nr_inodes=4"])
    func `a full disk is an error, keeps nothing and frees its space later`(
        kind: FolderKind, options: String
    ) throws {
        guard let disk = SmallDisk(folder.file("disk"), options: options) else {
            try Test.cancel("file systems can't be mounted here")
        }
        try Files.write(Files.bytes(1_000_000), to: disk.path + "/ballast")
        let files = try kind.open(disk.path + "/a-files")
        try Files.write(Files.bytes(1_500_000), to: folder.file("source"))
        let writer = try? files.makeWriter()
        let isFullOfNames = options.contains("inodes")
        if isFullOfNames {
            // The folder and its subfolder fit, the file does not.
            #expect(code { try files.add(.bytes(Files.bytes(10))) } == .diskFull)
        }
        let error = #expect(throws: TandemError.self) { try files.add(.path(folder.file("source"))) }
        #expect(error?.code == .diskFull && error?.advice != nil)
        #expect(try Files.below(files.path).filter { !$0.hasSuffix(".partial") } == [])
        if !isFullOfNames {
            #expect(code { try writer?.write(Files.bytes(1_500_000)) } == .diskFull)
            #expect(code { try writer?.finish() } == .diskFull)
        }
        #expect(try Files.below(files.path) == [])
        unlink(disk.path + "/ballast")
        if isFullOfNames { return }
        // A process that another test starts shares our open files until it executes its own program.
        for _ in 0..<1000 where SmallDisk.freeBytes(at: disk.path) < 1_700_000 { usleep(10_000) }
        let taken = try files.add(.path(folder.file("source")))
        #expect(try files.all(taken) == Files.bytes(1_500_000))
    }
}
