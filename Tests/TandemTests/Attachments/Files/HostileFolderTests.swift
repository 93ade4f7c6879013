import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// A manipulated folder: no file outside it is read, written or removed.
@Suite(.ownThreads) struct HostileFolderTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    /// Makes another folder that looks like a subfolder, and whose contents must stay.
    private func victim(_ files: FileFolder, _ blob: BlobName) throws -> String {
        let path = folder.file("victim")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Files.write(Files.bytes(100), to: path + "/" + blob.rawValue)
        try Files.write(Files.bytes(100), to: path + "/" + blob.partial)
        return path
    }

    private func expectUntouched(
        _ victim: String, _ blob: BlobName, sourceLocation: SourceLocation = #_sourceLocation
    )
        throws
    {
        let names = try FileManager.default.contentsOfDirectory(atPath: victim).sorted()
        #expect(names == [blob.rawValue, blob.partial], sourceLocation: sourceLocation)
        for name in names {
            #expect(try Files.read(victim + "/" + name) == Files.bytes(100), sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: FolderKind.allCases)
    func `a subfolder that is a link is an error and its target is unchanged`(kind: FolderKind) throws {
        let blob = BlobName.random()
        var options = kind.options()
        options.newName = { blob }
        let files = try kind.open(folder.file("a-files"), options: options)
        let victim = try victim(files, blob)
        #expect(mkdir(files.path, 0o700) == 0 && symlink(victim, files.path + "/" + blob.shard) == 0)
        for body in try attempts(files, blob, kind) { #expect(code(body) == .corrupt) }
        #expect(try files.sweep { _ in false } == 0)
        try expectUntouched(victim, blob)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: files.path + "/" + blob.shard) == victim)
        // A file in a subfolder's place is an error too.
        #expect(unlink(files.path + "/" + blob.shard) == 0)
        try Files.write([1], to: files.path + "/" + blob.shard)
        for body in try attempts(files, blob, kind) { #expect(code(body) == .corrupt) }
        #expect(try files.sweep { _ in false } == 0)
        #expect(try Files.read(files.path + "/" + blob.shard) == [1])
    }

    private func attempts(_ files: FileFolder, _ blob: BlobName, _ kind: FolderKind) throws -> [() throws -> Void] {
        let other = FileFolder(path: folder.file("other"), key: nil)
        return [
            { _ = try files.add(.bytes([1, 2, 3])) },
            { _ = try files.open(blob, sealed: kind.isSealed) },
            { _ = try files.size(of: blob) },
            { _ = try files.contains(blob) },
            { try files.remove(blob) },
            { try files.copy(blob, sealed: kind.isSealed, to: other) },
        ]
    }

    @Test(arguments: FolderKind.allCases)
    func `a file that is a link, a folder or a pipe is an error and is unchanged`(kind: FolderKind) throws {
        let files = try kind.open(folder.file("a-files"))
        let taken = try files.add(.bytes(Files.bytes(100)))
        let place = files.path(of: taken.blob)
        let victim = folder.file("victim")
        try Files.write(Files.read(place), to: victim)
        let before = try Files.read(victim)
        let strangers: [(String) -> Int32] = [
            { symlink(victim, $0) }, { symlink("/dev/zero", $0) }, { symlink("nowhere", $0) }, { mkdir($0, 0o700) },
            { mkfifo($0, 0o600) },
        ]
        for make in strangers {
            #expect(Foundation.remove(place) == 0 && make(place) == 0)
            for body in try attempts(files, taken.blob, kind).dropFirst() { #expect(code(body) == .corrupt) }
            #expect(try files.sweep { _ in false } == 0)
            var status = stat()
            #expect(lstat(place, &status) == 0 && !status.isRegular)
        }
        #expect(try Files.read(victim) == before)
    }

    @Test(arguments: FolderKind.allCases)
    func `an entry in the place of a new file is neither followed nor overwritten`(kind: FolderKind) throws {
        let blob = BlobName.random()
        var options = kind.options()
        options.newName = { blob }
        let files = try kind.open(folder.file("a-files"), options: options)
        let victim = folder.file("victim")
        try Files.write(Files.bytes(100), to: victim)
        let shard = files.path + "/" + blob.shard
        try FileManager.default.createDirectory(atPath: shard, withIntermediateDirectories: true)
        #expect(symlink(victim, shard + "/" + blob.partial) == 0)
        #expect(symlink(victim, shard + "/" + blob.rawValue) == 0)
        #expect(code { try files.add(.bytes([1, 2, 3])) } == .ioFailure)
        #expect(try Files.read(victim) == Files.bytes(100))
        // An existing file is not overwritten either.
        #expect(unlink(shard + "/" + blob.partial) == 0 && unlink(shard + "/" + blob.rawValue) == 0)
        let taken = try files.add(.bytes(Files.bytes(50)))
        #expect(code { try files.add(.bytes([1, 2, 3])) } == .ioFailure)
        #expect(try files.all(taken) == Files.bytes(50))
        #expect(try Files.below(files.path) == ["\(blob.shard)/\(blob)"])
    }

    @Test(arguments: FolderKind.twoKinds)
    func `a folder that is itself a link or a file is refused`(kind: FolderKind) throws {
        let real = try kind.open(folder.file("real-files"))
        let taken = try real.add(.bytes(Files.bytes(100)))
        let before = try Files.below(real.path)
        let path = folder.file("a-files")
        #expect(symlink("real-files", path) == 0)
        for place in [path, path + "/", path + "//"] {
            let files = try kind.open(place)
            for body in try attempts(files, taken.blob, kind) { #expect(code(body) == .cannotOpen) }
            #expect(code { try files.sweep { _ in false } } == .cannotOpen)
            #expect(code { try files.lockOpen() } == .cannotOpen)
        }
        #expect(try Files.below(real.path) == before)
        #expect(unlink(path) == 0)
        try Files.write([1, 2], to: path)
        #expect(code { try kind.open(path).add(.bytes([1])) } == .cannotOpen)
        #expect(try Files.read(path) == [1, 2])
        #expect(code { try kind.open(folder.file("no/such/a-files")).add(.bytes([1])) } == .cannotOpen)
    }

    @Test(arguments: FolderKind.twoKinds)
    func `a folder that is exchanged while it is open is not entered`(kind: FolderKind) throws {
        let files = try kind.open(folder.file("a-files"))
        let taken = try files.add(.bytes(Files.bytes(100)))
        let victim = try victim(files, taken.blob)
        #expect(rename(files.path, files.path + ".moved") == 0 && symlink(victim, files.path) == 0)
        #expect(try files.all(taken) == Files.bytes(100))
        let second = try files.add(.bytes(Files.bytes(200)))
        #expect(try files.all(second) == Files.bytes(200))
        #expect(try files.sweep { $0 == second.blob } == 1)
        try expectUntouched(victim, taken.blob)
        #expect(try Files.below(files.path + ".moved") == ["\(second.blob.shard)/\(second.blob)"])
    }

    @Test func `a lock that is a link is an error and is not followed`() throws {
        let files = try FolderKind.plain.open(folder.file("a-files"))
        let taken = try files.add(.bytes([1]))
        #expect(symlink(folder.file("victim"), files.path + "/.open") == 0)
        #expect(symlink(folder.file("victim"), files.path + "/.copying") == 0)
        #expect(code { try files.whileCopying {} } == .ioFailure)
        #expect(code { try files.tryCollecting {} } == .ioFailure)
        #expect(code { try files.tryWithExclusiveLock {} } == .ioFailure)
        #expect(code { try files.lockOpen() } == .ioFailure)
        #expect(!FileManager.default.fileExists(atPath: folder.file("victim")))
        #expect(try FolderKind.plain.open(files.path).all(taken) == [1])
    }
}
