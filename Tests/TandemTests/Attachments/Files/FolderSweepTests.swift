import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The sweep removes files without a row, and only those that the folder itself created.
@Suite(.ownThreads) struct FolderSweepTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    @Test(arguments: FolderKind.allCases)
    func `a sweep keeps named files and foreign files`(kind: FolderKind) throws {
        let files = try kind.open(folder.file("a-files"))
        let taken = try (0..<300).map { try files.add(.bytes(Files.bytes(10, $0))) }
        let kept = Set(taken.enumerated().filter { $0.offset.isMultiple(of: 3) }.map(\.element.blob))
        let blob = taken[0].blob
        let shard = files.path + "/" + blob.shard
        let tail = blob.rawValue.dropFirst(2)
        // Names that are almost valid.
        let other = blob.shard == "00" ? "01" : "00"
        let strangers =
            [
                "readme.txt", "x.partial", "\(blob).partial~", "\(blob)0", "\(blob.rawValue.uppercased())A",
                "\(other)\(tail)",
                "\(other)\(tail).partial", "\(blob.shard)\(tail.dropLast())", ".\(blob)", "写真.jpg", "new\nline",
                "\(blob.shard)\(tail.dropLast())G",
            ].map { shard + "/" + $0 } + [
                files.path + "/\(blob)", files.path + "/\(blob.partial)", files.path + "/notes",
            ]
        for path in strangers { try Files.write([7], to: path) }
        #expect(mkdir(shard + "/" + BlobName.random().rawValue, 0o700) == 0)
        let deep = files.path + "/zz"
        #expect(mkdir(deep, 0o700) == 0)
        try Files.write([7], to: deep + "/" + blob.rawValue)
        // Files that a killed process left.
        let partials = [blob, taken[1].blob].map { "\(files.path)/\($0.shard)/\($0.partial)" }
        for path in partials { try Files.write([7], to: path) }
        let removed = try files.sweep { kept.contains($0) }
        #expect(removed == 300 - kept.count + 2)
        for taken in taken { #expect(try files.contains(taken.blob) == kept.contains(taken.blob)) }
        for path in strangers + [deep + "/" + blob.rawValue] { #expect(try Files.read(path) == [7], "\(path)") }
        for path in partials { #expect(!FileManager.default.fileExists(atPath: path)) }
        #expect(try files.sweep { kept.contains($0) } == 0)
        #expect(try files.all(taken[0]) == Files.bytes(10, 0))
    }

    @Test(arguments: FolderKind.twoKinds)
    func `an error of the callback ends the sweep and removes no file without a response`(
        kind: FolderKind
    ) throws {
        let files = try kind.open(folder.file("a-files"))
        for number in 0..<20 { _ = try files.add(.bytes([UInt8(number)])) }
        var asked = 0
        #expect(throws: CancellationError.self) {
            try files.sweep { _ in
                asked += 1
                if asked == 8 { throw CancellationError() }
                return false
            }
        }
        #expect(try Files.below(files.path).count == 13)
    }

    @Test(arguments: [FolderKind.plainPartial, .encryptedPartial])
    func `a file that is being written is not lost to a refused sweep`(kind: FolderKind) throws {
        let files = try kind.open(folder.file("a-files"))
        try files.lockOpen()
        let writer = try files.makeWriter()
        try writer.write(Files.bytes(100))
        let other = try kind.open(files.path)
        #expect(try other.tryWithExclusiveLock { try other.sweep { _ in false } } == nil)
        #expect(try files.all(writer.finish()) == Files.bytes(100))
        files.close()
        #expect(try other.tryWithExclusiveLock { try other.sweep { _ in false } } == 1)
    }

    @Test(arguments: [FolderKind.plainPartial, .encryptedPartial])
    func `completing a file that was swept away is an error`(kind: FolderKind) throws {
        let files = try kind.open(folder.file("a-files"))
        let writer = try files.makeWriter()
        try writer.write(Files.bytes(100))
        #expect(try files.sweep { _ in true } == 1)
        #expect(code { try writer.finish() } == .ioFailure)
        #expect(try Files.below(files.path) == [])
    }
}
