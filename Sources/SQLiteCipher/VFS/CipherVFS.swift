import Foundation
import GRDBSQLite
import Synchronization

/// The VFS: registered once per process, never as the default, so that other databases and other VFSs are untouched.
///
/// It wraps SQLite's own "unix" VFS. Each of our files lies in memory as SQLite wants it: a `sqlite3_file` with our
/// methods, a reference to a `VFSFile`, and behind it the file of the VFS below.
enum CipherVFS {
    static let name = "sqlitecipher"
    /// Where the lower VFS's file begins in ours: behind the methods' address and the reference.
    static let baseOffset = 16

    /// Registers the VFS, or says what this process's SQLite lacks for it.
    static func register() throws {
        try registration.get()
    }

    /// SQLite's own VFS for files, through which ours reads and writes.
    // SQLite keeps it for as long as the process lives; it is only read.
    nonisolated(unsafe) static let lower = sqlite3_vfs_find("unix")

    /// Returns what an SQLite of this version lacks for the encryption, or `nil`.
    static func refusal(version: String, number: Int32, takesURIs: Bool) -> CipherError? {
        guard number >= 3_037_000 else {
            return CipherError(
                .unsupportedSQLite, "SQLite \(version) is too old.", advice: "Use 3.37 or later.")
        }
        guard takesURIs else {
            return CipherError(
                .unsupportedSQLite, "This SQLite does not take URIs as file names (it lacks SQLITE_USE_URI).",
                advice: "Link the system's SQLite of a Linux distribution, or build one with that option.")
        }
        return nil
    }

    private static let registration: Result<Void, CipherError> = {
        let missing = refusal(
            version: String(cString: sqlite3_libversion()), number: sqlite3_libversion_number(),
            takesURIs: sqlite3_compileoption_used("USE_URI") != 0)
        if let missing { return .failure(missing) }
        guard let base = lower else {
            return .failure(CipherError(.unsupportedSQLite, "This SQLite has no VFS named \"unix\"."))
        }
        // Both live as long as the process: SQLite keeps their addresses.
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: base.pointee)
        vfs.pointee.pNext = nil
        vfs.pointee.zName = UnsafePointer(strdup(name))
        vfs.pointee.szOsFile = Int32(baseOffset) + base.pointee.szOsFile
        vfs.pointee.xOpen = { _, name, file, flags, outFlags in
            guard let file else { return SQLITE_MISUSE }
            return CipherVFS.open(name, file, flags, outFlags)
        }
        guard sqlite3_vfs_register(vfs, 0) == SQLITE_OK else {
            return .failure(CipherError(.unsupportedSQLite, "SQLite takes no further VFS."))
        }
        return .success(())
    }()

    private static func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        // SQLite does not close what could not be opened if this stays nil.
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
            // A key that can't be had makes no file.
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
            entry?.note(
                CipherError(
                    .cannotOpen, "The file can't be opened: \(String(cString: strerror(errno))).",
                    advice: "Check the path and its permissions.", path: String(cString: name), sqliteCode: code),
                code: code)
            return code
        }
        outFlags?.pointee = actual
        guard let made = wrap(base, name, flags, entry) else {
            _ = base.close()
            return SQLITE_CANTOPEN
        }
        install(made, in: file)
        return SQLITE_OK
    }

    private static func wrap(
        _ base: BaseFile, _ name: UnsafePointer<CChar>, _ flags: Int32, _ entry: KeyEntry?
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
        // A journal that is only looked at may have a name that SQLite can't trace back to its database.
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
