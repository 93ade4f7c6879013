import Foundation

/// SQLCipher 4 by its Python driver (`sqlcipher3-wheels` on PyPI), which does the same tasks.
enum SQLCipherPeer {
    /// A Python that has the driver, named by TANDEM_PEERS_PYTHON; `make bench` sets it.
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
        if subject == "sqlcipher4":
            db.execute("PRAGMA key = \\"x'" + bytes(range(32)).hex() + "'\\"")
        outcome = "%d read" % db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        opening = time.perf_counter() - start
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -2048")
        def insert(number):
            db.execute("INSERT INTO t VALUES (?, ?, ?)", (number, "name %d" % number, bytes([number % 256]) * 200))
        if task in ("insert", "commits"):
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
            outcome = "%d bytes" % db.execute("SELECT sum(length(body) + length(name)) FROM t").fetchone()[0]
        elif task == "points":
            count, total, number = max(1, 10000 * rows // 100000), 0, 1
            for _ in range(count):
                number = number * 48271 % 2147483647
                total += len(db.execute("SELECT name FROM t WHERE id = ?", (number % rows,)).fetchone()[0])
            outcome = "%d bytes" % total
        elapsed = opening if task == "open" else time.perf_counter() - start
        db.close()
        print("%.9f\\t%s" % (elapsed, outcome))
        """
}
