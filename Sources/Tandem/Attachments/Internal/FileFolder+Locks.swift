import Foundation

extension FileFolder {
    /// Holds the folder open until ``close()``, so that no other sweeps away what this one has put there and no row names
    /// yet. Where there is no folder yet it is held from the moment it is there. Waits for a sweep to end.
    ///
    /// - Throws: If it can't be locked. It is then tried again with each file, and no file is taken in without.
    func lockOpen() throws {
        state.withLock { $0.isHeldOpen = true }
        _ = try root(making: false, locking: true)
    }

    /// Runs a block while no other has the folder open, in this process or another: before ``lockOpen()``.
    ///
    /// - Returns: `nil`, and the block did not run, if another has it open or there is no folder.
    func tryAlone<T>(_ body: () throws -> T) throws -> T? {
        guard let root = try root(making: false), let lock = try FolderLock.open.exclusive(in: root) else {
            return nil
        }
        return try withExtendedLifetime(lock, body)
    }

    /// Runs a block while no other has the folder open, nor copies files: both are waited for, for a while.
    ///
    /// - Parameter body: It is told whether there is a folder: without one nothing is locked.
    /// - Throws: ``TandemError/Code/busy`` if others go on, ``TandemError/Code/readOnly`` if nothing can be written there;
    ///   and what the block throws.
    func alone<T>(waiting patience: TimeInterval = 2, _ body: (_ isThere: Bool) throws -> T) throws -> T {
        guard let root = try root(making: false) else { return try body(false) }
        let deadline = DispatchTime.now() + patience
        while true {
            if let done = try tryAlone({ try tryCollecting { try body(true) } }) ?? nil { return done }
            guard DispatchTime.now() < deadline else { break }
            usleep(10_000)
        }
        guard faccessat(root.number, ".", W_OK, 0) == 0 else {
            throw TandemError.file("locked", path, code: .readOnly)
        }
        throw TandemError(
            .busy, "Somebody has the store's folder of files open, or copies from it.",
            advice: "Close the store first.",
            store: path)
    }

    /// Runs a block in which files are copied that rows named at its beginning: nobody collects garbage meanwhile. Makes
    /// the folder, so that there is something to lock; where that can't be, there is nothing to copy.
    func whileCopying<T>(_ body: () throws -> T) throws -> T {
        guard let root = try root(making: false) ?? (try? root(making: true)) else { return try body() }
        return try withExtendedLifetime(FolderLock.copying.shared(in: root), body)
    }

    /// Keeps others from collecting garbage here for as long as what is returned. Makes the folder.
    func lockCopying() throws -> FolderLock.Held? {
        try root(making: true).flatMap { try FolderLock.copying.shared(in: $0) }
    }

    /// Runs a block in which files are removed that rows named.
    ///
    /// - Returns: `nil`, and the block did not run, if another copies. Without a folder there is nothing to copy, and the
    ///   block runs.
    func tryCollecting<T>(_ body: () throws -> T) throws -> T? {
        guard let root = try root(making: false) else { return try body() }
        guard let lock = try FolderLock.copying.exclusive(in: root) else { return nil }
        return try withExtendedLifetime(lock, body)
    }
}
