import Foundation

extension FileFolder {
    /// Holds the folder open until ``close()``. No other process then sweeps new files that no row names yet. If the
    /// folder does not exist, it is held from its creation on. Waits for a running sweep.
    ///
    /// - Throws: An error if it can't be locked. Each file that is added tries again, and no file is added without the
    ///   lock.
    func lockOpen() throws {
        state.withLock { $0.isHeldOpen = true }
        _ = try root(making: false, locking: true)
    }

    /// Runs a block while no other store instance has the folder open, in any process. Call it before ``lockOpen()``.
    ///
    /// - Returns: `nil`, without running the block, if another instance has it open or the folder does not exist.
    func tryWithExclusiveLock<T>(_ body: () throws -> T) throws -> T? {
        guard let root = try root(making: false), let lock = try FolderLock.open.exclusive(in: root) else {
            return nil
        }
        return try withExtendedLifetime(lock, body)
    }

    /// Runs a block while no other store instance has the folder open or copies files. Waits for others up to a
    /// timeout.
    ///
    /// - Parameter body: A block that receives whether the folder exists. Without a folder nothing is locked.
    /// - Throws: ``TandemError/Code/busy`` after the timeout; ``TandemError/Code/readOnly`` if the folder is not
    ///   writable; and the block's errors.
    func withExclusiveLock<T>(_ body: (_ isThere: Bool) throws -> T) throws -> T {
        guard let root = try root(making: false) else { return try body(false) }
        let deadline = DispatchTime.now() + 2
        while true {
            if let done = try tryWithExclusiveLock({ try tryCollecting { try body(true) } }) ?? nil { return done }
            guard DispatchTime.now() < deadline else { break }
            usleep(10_000)
        }
        guard faccessat(root.number, ".", W_OK, 0) == 0 else {
            throw TandemError.file("locked", path: path, code: .readOnly)
        }
        throw TandemError(
            .busy, message: "Another process or store has the folder of files open, or copies from it.",
            advice: "Close the store first.",
            store: path)
    }

    /// Runs a block that copies files which rows named at its beginning. No garbage is collected meanwhile. Creates the
    /// folder, because the lock needs it. If that fails, there are no files to copy.
    func whileCopying<T>(_ body: () throws -> T) throws -> T {
        guard let root = try root(making: false) ?? (try? root(making: true)) else { return try body() }
        return try withExtendedLifetime(FolderLock.copying.shared(in: root), body)
    }

    /// Prevents garbage collection while the returned lock exists. Creates the folder.
    func lockCopying() throws -> FolderLock.Held? {
        try root(making: true).flatMap { try FolderLock.copying.shared(in: $0) }
    }

    /// Runs a block that removes files which rows named.
    ///
    /// - Returns: `nil`, without running the block, if another process copies. Without a folder there are no files to
    ///   copy, and the block runs.
    func tryCollecting<T>(_ body: () throws -> T) throws -> T? {
        guard let root = try root(making: false) else { return try body() }
        guard let lock = try FolderLock.copying.exclusive(in: root) else { return nil }
        return try withExtendedLifetime(lock, body)
    }
}
