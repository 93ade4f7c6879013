import Foundation
import GRDBSQLite
import Synchronization

/// The VFS. It is registered once per process, and never as the default, so other databases and VFSs are unaffected.
///
/// It wraps SQLite's own "unix" VFS. Each file has the memory layout that SQLite expects: a `sqlite3_file` with our
/// methods, then a reference to a `VFSFile`, then the file of the lower VFS.
enum CipherVFS {
    static let name = "sqlitecipher"
    /// The offset of the lower VFS's file in ours: after the address of the methods and the reference.
    static let baseOffset = 16

    /// Registers the VFS.
    ///
    /// - Throws: ``CipherError/Code/unsupportedSQLite`` if this process's SQLite lacks a required feature.
    static func register() throws {
        try registration.get()
    }

    /// SQLite's own VFS for files, through which ours reads and writes.
    // Proof: SQLite keeps it for the life of the process, and it is only read.
    nonisolated(unsafe) static let lower = sqlite3_vfs_find("unix")

    /// Returns an error if SQLite of this version lacks a feature that encryption needs.
    static func refusal(version: String, number: Int32, takesURIs: Bool) -> CipherError? {
        guard number >= 3_037_000 else {
            return CipherError(
                .unsupportedSQLite, message: "SQLite \(version) is too old.", advice: "Use 3.37 or later.")
        }
        guard takesURIs else {
            return CipherError(
                .unsupportedSQLite,
                message: "This SQLite does not accept URIs as file names (it lacks SQLITE_USE_URI).",
                advice: "Link the SQLite of a Linux distribution, or build SQLite with that option.")
        }
        return nil
    }

    private static let registration: Result<Void, CipherError> = {
        let missing = refusal(
            version: String(cString: sqlite3_libversion()), number: sqlite3_libversion_number(),
            takesURIs: sqlite3_compileoption_used("USE_URI") != 0)
        if let missing { return .failure(missing) }
        guard let base = lower else {
            return .failure(CipherError(.unsupportedSQLite, message: "This SQLite has no VFS named \"unix\"."))
        }
        // Both are never freed, because SQLite keeps their addresses.
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: base.pointee)
        vfs.pointee.pNext = nil
        vfs.pointee.zName = UnsafePointer(strdup(name))
        vfs.pointee.szOsFile = Int32(baseOffset) + base.pointee.szOsFile
        vfs.pointee.xOpen = { _, name, file, flags, outFlags in
            guard let file else { return SQLITE_MISUSE }
            return CipherVFS.open(name, file: file, flags: flags, outFlags: outFlags)
        }
        guard sqlite3_vfs_register(vfs, 0) == SQLITE_OK else {
            return .failure(CipherError(.unsupportedSQLite, message: "SQLite failed to register the VFS."))
        }
        return .success(())
    }()

    private static func open(
        _ name: UnsafePointer<CChar>?, file: UnsafeMutablePointer<sqlite3_file>, flags: Int32,
        outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        // If this stays nil, SQLite does not close a file that could not be opened.
        file.pointee.pMethods = nil
        let raw = UnsafeMutableRawPointer(file)
        let basePointer = (raw + baseOffset).assumingMemoryBound(to: sqlite3_file.self)
        basePointer.pointee.pMethods = nil
        let base = BaseFile(pointer: basePointer)
        guard let lower, let openLower = lower.pointee.xOpen else { return SQLITE_CANTOPEN }
        guard let name else {
            outFlags?.pointee = flags
            install(MemoryFile(base: base), in: file)
            return SQLITE_OK
        }
        let kinds = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL
        guard flags & kinds != 0 else { return SQLITE_CANTOPEN }
        let entry: KeyEntry?
        if flags & SQLITE_OPEN_MAIN_DB != 0 {
            entry = sqlite3_uri_parameter(name, "kid").flatMap { KeyRegistry.entry(String(cString: $0)) }
            if entry == nil { return SQLITE_CANTOPEN }
        } else {
            entry = nil
        }
        if let entry, flags & SQLITE_OPEN_CREATE != 0, access(name, F_OK) != 0 {
            // Derive the key before creating the file, so that an unavailable key leaves no file.
            let path = String(cString: name)
            do {
                _ = try entry.keys(salt: entry.newSalt(for: path))
            } catch {
                return ConnectionContext(entry: entry, path: path).fail(error, code: SQLITE_CANTOPEN)
            }
        }
        var actual: Int32 = 0
        let code = openLower(lower, name, basePointer, flags, &actual)
        guard code == SQLITE_OK else {
            entry?.record(
                CipherError(
                    .cannotOpen, message: "The file can't be opened: \(String(cString: strerror(errno))).",
                    advice: "Check the path and its permissions.", path: String(cString: name), sqliteCode: code),
                code: code)
            return code
        }
        outFlags?.pointee = actual
        guard let made = wrap(base, name: name, flags: flags, entry: entry) else {
            _ = base.close()
            return SQLITE_CANTOPEN
        }
        install(made, in: file)
        return SQLITE_OK
    }

    private static func wrap(
        _ base: BaseFile, name: UnsafePointer<CChar>, flags: Int32, entry: KeyEntry?
    ) -> VFSFile? {
        if let entry {
            let context = ConnectionContext(entry: entry, path: String(cString: name))
            do {
                let announces = sqlite3_uri_boolean(name, "hdr", 1) != 0
                let main = try MainFile(base: base, context: context, announcesFormat: announces)
                context.main = main
                return main
            } catch {
                _ = context.fail(error, code: SQLITE_CANTOPEN)
                return nil
            }
        }
        // A journal that is opened only for inspection may have a name that SQLite can't map to its database.
        if flags & SQLITE_OPEN_SUPER_JOURNAL != 0 { return VFSFile(base: base) }
        if flags & SQLITE_OPEN_MAIN_JOURNAL != 0, flags & SQLITE_OPEN_READONLY != 0 { return VFSFile(base: base) }
        guard let main = sqlite3_database_file_object(name),
            main.pointee.pMethods == UnsafePointer(CipherMethods.table),
            let owner = CipherMethods.file(main) as? MainFile
        else { return nil }
        if flags & SQLITE_OPEN_WAL != 0 { return LogFile(base: base, context: owner.context) }
        return JournalFile(base: base, context: owner.context)
    }

    private static func install(_ object: VFSFile, in file: UnsafeMutablePointer<sqlite3_file>) {
        (UnsafeMutableRawPointer(file) + 8).storeBytes(
            of: Unmanaged.passRetained(object).toOpaque(), as: UnsafeMutableRawPointer.self)
        file.pointee.pMethods = UnsafePointer(CipherMethods.table)
    }
}
