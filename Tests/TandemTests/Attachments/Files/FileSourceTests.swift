import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Sources that can be copied into the folder, and sources that are refused.
@Suite(.ownThreads) struct FileSourceTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private static let names = [
        String(repeating: "n", count: 255), "new\nline", "back\\slash '\"; rm -rf", "фото ёлки.jpg", "写真.png",
        "-rf", "é\u{301}", "a.partial", ".hidden",
    ]

    @Test(arguments: FolderKind.twoKinds, names)
    func `a source's name never appears in the folder`(kind: FolderKind, name: String) throws {
        let files = try kind.open(folder.file("a-files"))
        try Files.write(Files.bytes(1000), to: folder.file(name))
        let taken = try files.add(.path(folder.file(name)))
        #expect(try files.all(taken) == Files.bytes(1000))
        #expect(try Files.below(files.path) == ["\(taken.blob.shard)/\(taken.blob)"])
        #expect(try Files.read(folder.file(name)) == Files.bytes(1000))
    }

    @Test(arguments: FolderKind.twoKinds)
    func `a link to a file is followed`(kind: FolderKind) throws {
        let files = try kind.open(folder.file("a-files"))
        try Files.write(Files.bytes(1000), to: folder.file("real"))
        #expect(symlink("real", folder.file("link")) == 0 && symlink("link", folder.file("again")) == 0)
        #expect(try files.all(files.add(.path(folder.file("again")))) == Files.bytes(1000))
    }

    @Test(arguments: FolderKind.twoKinds)
    func `a source that is not a file is refused at once`(kind: FolderKind) throws {
        let files = try kind.open(folder.file("a-files"))
        #expect(mkfifo(folder.file("fifo"), 0o600) == 0)
        #expect(mkdir(folder.file("folder"), 0o700) == 0)
        #expect(symlink("fifo", folder.file("to fifo")) == 0 && symlink("loop", folder.file("loop")) == 0)
        #expect(symlink("nowhere", folder.file("to nothing")) == 0)
        var paths = ["fifo", "folder", "to fifo", "loop", "to nothing", "absent", "absent/below"].map {
            folder.file($0)
        }
        paths += ["/dev/zero", "/dev/null", "/dev/tty", "", folder.file("a\0b"), String(repeating: "x", count: 300)]
        for path in paths {
            let error = #expect(throws: TandemError.self, "\(path)") { try files.add(.path(path)) }
            #expect(error?.code == .cannotOpen && error?.advice != nil, "\(path)")
        }
        #expect(try Files.below(files.path) == [])
    }

    enum Change: String, CaseIterable, CustomTestStringConvertible {
        case cut, grown, grownFarBehind, rewritten, replaced
        var testDescription: String { rawValue }

        func make(_ path: String) throws {
            switch self {
            case .cut: #expect(truncate(path, 10_000) == 0)
            case .grown: #expect(truncate(path, 50_001) == 0)
            case .grownFarBehind: #expect(truncate(path, 5_000_000) == 0)
            case .rewritten:
                let file = try #require(FileHandle(forWritingAtPath: path))
                try file.write(contentsOf: Data(Files.bytes(100)))
            case .replaced:
                try Files.write(Files.bytes(50_000, 1), to: path + ".new")
                #expect(rename(path + ".new", path) == 0)
            }
        }
    }

    @Test(arguments: FolderKind.allCases, Change.allCases)
    func `a file that changes while it is copied is refused and nothing is kept`(
        kind: FolderKind, change: Change
    ) throws {
        let source = folder.file("source")
        try Files.write(Files.bytes(50_000), to: source)
        // An old date makes the change visible whatever the resolution of the system's clock.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: source)
        let options = kind.options(pieceSize: 4096) { if $0 == 40_960 { try change.make(source) } }
        let files = try kind.open(folder.file("a-files"), options: options)
        let error = #expect(throws: TandemError.self) { try files.add(.path(source)) }
        #expect(error?.code == .fileChanged && error?.advice != nil)
        #expect(try Files.below(files.path) == [])
        // The file is accepted if it does not change.
        let again = try kind.open(files.path)
        #expect(try again.all(again.add(.path(source))) == Files.read(source))
    }

    @Test(arguments: FolderKind.twoKinds)
    func `a file that is removed after it was opened is copied`(kind: FolderKind) throws {
        let source = folder.file("source")
        try Files.write(Files.bytes(50_000), to: source)
        let options = kind.options(pieceSize: 4096) { if $0 == 4096 { unlink(source) } }
        let files = try kind.open(folder.file("a-files"), options: options)
        #expect(try files.all(files.add(.path(source))) == Files.bytes(50_000))
    }

    @Test func `a file that reports size zero but has bytes is refused`() throws {
        let files = try FolderKind.plain.open(folder.file("a-files"))
        guard FileManager.default.isReadableFile(atPath: "/proc/self/status") else { return }
        #expect(code { try files.add(.path("/proc/self/status")) } == .fileChanged)
        #expect(try Files.below(files.path) == [])
    }
}
