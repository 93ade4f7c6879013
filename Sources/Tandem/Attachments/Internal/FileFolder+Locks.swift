extension FileFolder {
    /// Holds the folder open until ``close()``, so that no other sweeps away what this one has put there and no row names
    /// yet. Where there is no folder yet it is held from the moment it is there. Waits for a sweep to end.
    func lockOpen() throws {
        state.withLock { $0.isHeldOpen = true }
        _ = try root(making: false)
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

    /// Runs a block in which files are copied that rows named at its beginning: nobody collects garbage meanwhile. Makes
    /// the folder, so that there is something to lock; where that can't be, there is nothing to copy.
    func whileCopying<T>(_ body: () throws -> T) throws -> T {
        guard let root = try root(making: false) ?? (try? root(making: true)) else { return try body() }
        return try withExtendedLifetime(FolderLock.copying.shared(in: root), body)
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
