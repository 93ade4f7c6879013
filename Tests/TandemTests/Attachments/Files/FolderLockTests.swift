import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Sweeping, copying and collecting while others use the folder, in this process and in others.
@Suite(.startsProcesses, .ownThreads) struct FolderLockTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func open() throws -> FileFolder { try FolderKind.plain.open(folder.file("a-files")) }

    @Test func `an opener is alone if no other has the folder open`() throws {
        let first = try open()
        // The folder does not exist yet.
        #expect(try first.tryWithExclusiveLock { true } == nil)
        _ = try first.add(.bytes([1]))
        #expect(try first.tryWithExclusiveLock { true } == true)
        try first.lockOpen()
        try first.lockOpen()
        let second = try open()
        #expect(try second.tryWithExclusiveLock { true } == nil)
        try second.lockOpen()
        first.close()
        #expect(try open().tryWithExclusiveLock { true } == nil)
        second.close()
        #expect(try open().tryWithExclusiveLock { true } == true)
        #expect(code { try first.tryWithExclusiveLock { true } } == .closed)
        #expect(code { try first.lockOpen() } == .closed)
    }

    @Test func `a folder is locked as soon as it exists and released when it is dropped`() throws {
        do {
            let first = try open()
            try first.lockOpen()
            _ = try first.add(.bytes([1]))
            #expect(try open().tryWithExclusiveLock { true } == nil)
        }
        #expect(try open().tryWithExclusiveLock { true } == true)
    }

    /// A process that another thread starts shares our open files until it executes its own program.
    @Test func `a released lock is free even if a starting process still has its file open`()
        throws
    {
        let files = try open()
        _ = try files.add(.bytes([1]))
        let root = try #require(try files.root(making: false))
        for lock in [FolderLock.open, .copying] {
            var held = try lock.shared(in: root)
            let inherited = dup(try #require(held).file.number)
            defer { close(inherited) }
            #expect(try lock.exclusive(in: root) == nil)
            held = nil
            #expect(try lock.exclusive(in: root) != nil)
        }
    }

    @Test func `an opener that is alone keeps others out until its block returns or throws`() throws {
        let first = try open()
        _ = try first.add(.bytes([1]))
        #expect(throws: CancellationError.self) {
            try first.tryWithExclusiveLock {
                let other = try open().tryWithExclusiveLock { true }
                #expect(other == nil)
                throw CancellationError()
            }
        }
        #expect(try open().tryWithExclusiveLock { true } == true)
    }

    @Test func `opening a folder waits for another opener's sweep`() throws {
        let first = try open()
        _ = try first.add(.bytes([1]))
        let second = try open()
        let order = Order()
        let over = DispatchSemaphore(value: 0)
        try first.tryWithExclusiveLock {
            Thread.detachNewThread {
                order.note("begun")
                try? second.lockOpen()
                order.note("opened")
                over.signal()
            }
            while order.notes.isEmpty { usleep(500) }
            // Mostly long enough for the other thread to reach the lock. It can't pass the lock in any case.
            usleep(20_000)
            order.note("swept")
        }
        over.wait()
        #expect(order.notes == ["begun", "swept", "opened"])
        #expect(try open().tryWithExclusiveLock { true } == nil)
    }

    @Test func `garbage is collected only without copies, and several copies run at once`() throws {
        let first = try open()
        let second = try open()
        // Without a folder there is nothing to copy.
        #expect(try first.tryCollecting { 5 } == 5)
        #expect(!FileManager.default.fileExists(atPath: first.path))
        try first.whileCopying {
            #expect(try second.tryCollecting { 5 } == nil)
            #expect(try first.tryCollecting { 5 } == nil)
            let within = try second.whileCopying { try second.tryCollecting { 5 } }
            #expect(within == nil)
            #expect(try second.tryCollecting { 5 } == nil)
            // The two locks are independent.
            #expect(try second.tryWithExclusiveLock { 5 } == 5)
        }
        #expect(try second.tryCollecting { 5 } == 5)
        #expect(throws: CancellationError.self) { try first.whileCopying { throw CancellationError() } }
        #expect(try second.tryCollecting { 5 } == 5)
        #expect(throws: CancellationError.self) { try first.tryCollecting { throw CancellationError() } }
        #expect(try second.tryCollecting { 5 } == 5)
    }

    @Test(.enabled(if: LockHolder.isPossible, "flock(1) is needed"), arguments: [".open", ".copying"])
    func `another process keeps us out until it ends`(lock: String) throws {
        let files = try open()
        _ = try files.add(.bytes([1]))
        func attempt() throws -> Bool {
            try (lock == ".open" ? files.tryWithExclusiveLock { true } : files.tryCollecting { true }) ?? false
        }
        #expect(try attempt())
        let holder = try LockHolder(files.path + "/" + lock)
        #expect(try !attempt())
        // A shared lock of the other process can be shared.
        if lock == ".open" { try files.lockOpen() } else { try files.whileCopying {} }
        #expect(try !attempt())
        holder.kill()
        if lock == ".open" {
            #expect(try !attempt())
            #expect(try open().tryWithExclusiveLock { true } == nil)
            files.close()
            #expect(try open().tryWithExclusiveLock { true } == true)
        } else {
            #expect(try attempt())
        }
    }

    @Test func `files on a read-only medium are readable without locks`() throws {
        guard let disk = SmallDisk(folder.file("disk"), options: "size=4m") else {
            try Test.cancel("file systems can't be mounted here")
        }
        let path = disk.path + "/a-files"
        let taken = try FileFolder(path: path, key: nil).add(.bytes(Files.bytes(100)))
        try #require(disk.protect())
        let files = FileFolder(path: path, key: nil)
        try files.lockOpen()
        #expect(try files.all(taken) == Files.bytes(100))
        #expect(try files.tryWithExclusiveLock { 5 } == nil)
        #expect(try files.whileCopying { 5 } == 5)
        #expect(code { try files.add(.bytes([1])) } == .readOnly)
        #expect(code { try files.remove(taken.blob) } == .readOnly)
        #expect(try files.sweep { _ in false } == 0)
        #expect(try files.all(taken) == Files.bytes(100))
        let absent = FileFolder(path: disk.path + "/b-files", key: nil)
        #expect(try absent.whileCopying { 5 } == 5)
        #expect(code { try absent.add(.bytes([1])) } == .readOnly)
    }
}
