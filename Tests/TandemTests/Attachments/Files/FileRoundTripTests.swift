import Crypto
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Files of all sizes can be read back unchanged.
@Suite(.ownThreads) struct FileRoundTripTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private static let sizes = [0, 1, 65_535, 65_536, 65_537, 1 << 20, (1 << 20) + 1, 3_333_333]

    @Test(arguments: FolderKind.allCases, sizes)
    func `a file of any size is read back in whole and in parts`(kind: FolderKind, size: Int) throws {
        let files = try kind.open(folder.file("a-files"))
        let bytes = Files.bytes(size)
        try Files.write(bytes, to: folder.file("source"))
        let pieces = try files.makeWriter()
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix([1, 7777, 100_000, 1_200_000][rest.count % 4])
            try pieces.write(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        let taken = try [
            files.add(.path(folder.file("source"))), files.add(.bytes(bytes)), pieces.finish(),
        ]
        #expect(Set(taken.map(\.blob)).count == 3)
        for taken in taken {
            #expect(taken.size == Int64(size) && taken.sha256 == Array(SHA256.hash(data: bytes)))
            #expect(taken.isSealed == kind.isSealed)
            let reading = try files.open(taken.blob, sealed: taken.isSealed)
            #expect(reading.size == Int64(size))
            #expect(try Array(reading.read(at: 0, count: .max)) == bytes)
            for start in [0, 1, size / 2, 65_530, size - 1, size, size + 5] where start >= 0 {
                #expect(
                    try Array(reading.read(at: Int64(start), count: 20)) == Array(bytes.dropFirst(start).prefix(20)))
            }
            let onDisk = try Files.read(files.path(of: taken.blob))
            #expect(try files.size(of: taken.blob) == Int64(onDisk.count))
            #expect((onDisk == bytes) == !kind.isSealed)
            var status = stat()
            #expect(lstat(files.path(of: taken.blob), &status) == 0 && status.st_mode & 0o7777 == 0o600)
        }
        #expect(try Files.below(files.path).count == 3)
    }

    @Test(arguments: FolderKind.twoKinds)
    func `random parts equal the written bytes`(kind: FolderKind) throws {
        let seed = UInt64.random(in: 0...(.max))
        var generator = SeededGenerator(seed: seed)
        let files = try kind.open(folder.file("a-files"))
        let bytes = Files.bytes(400_000)
        let taken = try files.add(.bytes(bytes))
        let reading = try files.open(taken.blob, sealed: taken.isSealed)
        for _ in 0..<200 {
            let start = Int.random(in: 0...400_010, using: &generator)
            let count = Int.random(in: 0...150_000, using: &generator)
            let part = try Array(reading.read(at: Int64(start), count: count))
            #expect(part == Array(bytes.dropFirst(start).prefix(count)), "seed \(seed)")
        }
        #expect(code { try reading.read(at: -1, count: 5) } == .invalidValue)
        #expect(code { try reading.read(at: 5, count: -1) } == .invalidValue)
        #expect(try reading.read(at: .max, count: .max).isEmpty)
    }

    @Test(arguments: FolderKind.allCases)
    func `another opener reads the folder, and nothing is created before the first file`(
        kind: FolderKind
    ) throws {
        let path = folder.file("a-files")
        let files = try kind.open(path)
        let nobody = BlobName.random()
        #expect(try !files.contains(nobody) && !files.remove(nobody) && files.size(of: nobody) == nil)
        #expect(try files.sweep { _ in false } == 0)
        try files.lockOpen()
        #expect(!FileManager.default.fileExists(atPath: path))
        let taken = try files.add(.bytes(Files.bytes(100_000)))
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.isFolder && status.st_mode & 0o7777 == 0o700)
        #expect(lstat(path + "/" + taken.blob.shard, &status) == 0 && status.st_mode & 0o7777 == 0o700)
        let other = try kind.open(path + "/")
        #expect(try other.all(taken) == Files.bytes(100_000))
        #expect(try other.contains(taken.blob))
        #expect(try other.remove(taken.blob) && !files.contains(taken.blob))
        #expect(code { try files.all(taken) } == .corrupt)
    }

    @Test(arguments: FolderKind.allCases)
    func `a removed file stays readable while it is open`(kind: FolderKind) throws {
        let files = try kind.open(folder.file("a-files"))
        let bytes = Files.bytes(300_000)
        let taken = try files.add(.bytes(bytes))
        let reading = try files.open(taken.blob, sealed: taken.isSealed)
        #expect(try files.remove(taken.blob))
        #expect(try Files.below(files.path) == [])
        files.close()
        #expect(try Array(reading.read(at: 0, count: .max)) == bytes)
        #expect(code { try files.add(.bytes(bytes)) } == .closed)
        #expect(code { try files.open(taken.blob, sealed: taken.isSealed) } == .closed)
        #expect(code { try files.contains(taken.blob) } == .closed)
        #expect(code { try files.sweep { _ in false } } == .closed)
    }

    @Test func `a temporary folder is created on demand and removed when it is closed or released`() throws {
        let files = FileFolder.temporary()
        #expect(!FileManager.default.fileExists(atPath: files.path))
        let taken = try files.add(.bytes(Files.bytes(10)))
        #expect(try files.all(taken) == Files.bytes(10))
        var status = stat()
        #expect(lstat(files.path, &status) == 0 && status.st_mode & 0o7777 == 0o700)
        files.close()
        #expect(!FileManager.default.fileExists(atPath: files.path))
        var path = ""
        do {
            let dropped = FileFolder.temporary()
            path = dropped.path
            _ = try dropped.add(.bytes(Files.bytes(10)))
            #expect(FileManager.default.fileExists(atPath: path))
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(path != files.path)
    }

    @Test func `ten thousand files leave no folder with more than two hundred entries`() throws {
        var options = FileFolderOptions()
        options.flushes = false
        let files = FileFolder(path: folder.file("a-files"), key: nil, options: options)
        var names: Set<BlobName> = []
        for number in 0..<10_000 { names.insert(try files.add(.bytes(Files.bytes(5, number))).blob) }
        let shards = try FileManager.default.contentsOfDirectory(atPath: files.path)
        #expect(shards.count <= 256)
        for shard in shards {
            #expect(try FileManager.default.contentsOfDirectory(atPath: files.path + "/" + shard).count <= 200)
        }
        var seen = 0
        let removed = try files.sweep { name in
            seen += 1
            return names.contains(name) && seen.isMultiple(of: 2)
        }
        #expect(seen == 10_000 && removed == 5000)
    }

    @Test(arguments: FolderKind.twoKinds)
    func `a large file is copied in pieces`(kind: FolderKind) throws {
        let source = folder.file("source")
        try Files.write([1], to: source)
        let size = 256 << 20
        #expect(truncate(source, off_t(size)) == 0)
        let pieces = Pieces()
        let files = try kind.open(folder.file("a-files"), options: kind.options(didRead: { pieces.note($0) }))
        let taken = try files.add(.path(source))
        #expect(taken.size == Int64(size) && pieces.largest == 1 << 20 && pieces.count == 256)
        let reading = try files.open(taken.blob, sealed: taken.isSealed)
        var hash = SHA256()
        var largest = 0
        try reading.eachPiece(of: 1 << 20) { piece in
            hash.update(data: piece)
            largest = max(largest, piece.count)
        }
        #expect(Array(hash.finalize()) == taken.sha256 && largest == 1 << 20)
    }
}
