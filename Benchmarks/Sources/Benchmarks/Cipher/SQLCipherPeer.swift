import Foundation

/// SQLCipher 4 with its Python driver (`sqlcipher3-wheels` on PyPI), for the same tasks.
enum SQLCipherPeer {
    /// A Python with the driver, set by TANDEM_PEERS_PYTHON. `make bench` sets the variable.
    static let python: String? = {
        guard let path = ProcessInfo.processInfo.environment["TANDEM_PEERS_PYTHON"] else { return nil }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-c", "import sqlcipher3"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        process.waitUntilExit()
        return process.terminationStatus == 0 ? path : nil
    }()

    static let program = """
        import sys, time, sqlcipher3
        task, subject, path, rows = sys.argv[1:4] + [int(sys.argv[4])]
        start = time.perf_counter()
        db = sqlcipher3.connect(path, isolation_level=None)
        on_store = subject.endswith("-store")
        if subject.startswith("sqlcipher4"):
            db.execute("PRAGMA key = \\"x'" + bytes(range(32)).hex() + "'\\"")
        outcome = "%d read" % db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        opening = time.perf_counter() - start
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -%d" % (8192 if on_store and task in ("insert", "commits") else 2048))
        table = "Entry" if on_store else "t"
        def local_id(number): return "0190a000-0000-7000-8000-%012x" % number
        entry = 'INSERT INTO "Entry" ("localID", "synced", "number", "name", "body") VALUES (?, ?, ?, ?, ?)'
        operation = ('INSERT INTO "__operations" ("table", "object", "localID", "kind", "changedAt", "changes") '
                     'VALUES (?, ?, ?, ?, ?, ?)')
        def insert(number):
            name, body = "name %d" % number, bytes([number % 256]) * 200
            if not on_store:
                db.execute("INSERT INTO t VALUES (?, ?, ?)", (number, name, body))
            else:
                row = db.execute(entry, (local_id(number), 0, number, name, body)).lastrowid
                db.execute(operation, ("Entry", row, local_id(number), 1, 816985999.9967332, None))
        if task in ("insert", "commits") and not on_store:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB)")
        start = time.perf_counter()
        if task == "insert":
            db.execute("BEGIN")
            for number in range(rows): insert(number)
            db.execute("COMMIT")
            outcome = "%d rows" % rows
        elif task == "commits":
            count = max(1, 2000 * rows // 100000)
            for number in range(rows, rows + count):
                db.execute("BEGIN IMMEDIATE")
                insert(number)
                db.execute("COMMIT")
            outcome = "%d rows" % count
        elif task == "scan":
            outcome = "%d bytes" % db.execute("SELECT sum(length(body) + length(name)) FROM " + table).fetchone()[0]
        elif task == "points":
            count, total, number = max(1, 10000 * rows // 100000), 0, 1
            for _ in range(count):
                number = number * 48271 % 2147483647
                if on_store:
                    found = db.execute('SELECT * FROM "Entry" WHERE "localID" = ?', (local_id(number % rows),))
                    total += len(found.fetchone()[9])
                else:
                    found = db.execute("SELECT name FROM t WHERE id = ?", (number % rows,))
                    total += len(found.fetchone()[0])
            outcome = "%d bytes" % total
        elapsed = opening if task == "open" else time.perf_counter() - start
        db.close()
        print("%.9f\\t%s" % (elapsed, outcome))
        """
}
