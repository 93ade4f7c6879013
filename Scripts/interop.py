"""Exchanges databases between SQLiteCipher and SQLCipher 4 and SQLite3 Multiple Ciphers.

Usage: interop.py PEER [ROUNDS]. PEER is the built SQLiteCipherTestPeer. Prints one line for each thing that holds, and
fails with the first that does not. It needs sqlcipher3-wheels and apsw-sqlite3mc from PyPI.
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import apsw
import sqlcipher3

PEER = sys.argv[1]
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 6
KEY = bytes(range(32)).hex()


def peer(path, mode, *command, check=True):
    done = subprocess.run([PEER, path, "sqlcipher", mode, *command], capture_output=True, text=True, timeout=120)
    if check and done.returncode != 0:
        raise SystemExit(f"peer {command} on {path}: {done.returncode} {done.stderr}")
    return done.stdout.split()


def sqlcipher(path):
    db = sqlcipher3.connect(path, isolation_level=None)
    db.execute(f"""PRAGMA key = "x'{KEY}'" """)
    db.execute("PRAGMA busy_timeout = 10000")
    return db


def state(db):
    """Complete transactions, all transactions, items, by the other side's own reading."""
    return db.execute(
        "SELECT (SELECT count(*) FROM batch WHERE number > 0 AND"
        " (SELECT count(*) FROM item WHERE item.number = batch.number) = 7),"
        " (SELECT count(*) FROM batch), (SELECT count(*) FROM item)").fetchone()


def sound(db):
    findings = db.execute("PRAGMA cipher_integrity_check").fetchall()
    assert findings == [], findings
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def add(db, number=None):
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO batch DEFAULT VALUES")
    number = db.execute("SELECT max(number) FROM batch").fetchone()[0]
    for place in range(7):
        db.execute("INSERT INTO item VALUES (?, ?, ?)", (number, place, "theirs" * (20 + 100 * place)))
    db.execute("COMMIT")
    return number


def die(path, mode):
    """SQLCipher in a process that commits twice, begins a third transaction, spills it, and is killed."""
    child = os.fork()
    if child == 0:
        db = sqlcipher(path)
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.execute("PRAGMA cache_size = 12")
        add(db)
        add(db)
        db.execute("BEGIN IMMEDIATE")
        for place in range(300):
            db.execute("INSERT INTO item VALUES (-1, ?, ?)", (place, "never committed" * 60))
        db.execute("UPDATE item SET filler = filler || 'x'")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def both_directions(folder):
    for mode in ["delete", "wal"]:
        path = os.path.join(folder, f"ours-{mode}.db")
        peer(path, mode, "add", "5")
        db = sqlcipher(path)
        assert state(db) == (5, 5, 35), state(db)
        sound(db)
        add(db)
        db.close()
        assert peer(path, mode, "check") == ["6", "6", "42", "ok"]
        print(f"ok: SQLCipher reads, checks and writes ours ({mode}), and we read it back")

        path = os.path.join(folder, f"theirs-{mode}.db")
        db = sqlcipher(path)
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.execute("CREATE TABLE item (number INTEGER, place INTEGER, filler TEXT)")
        db.execute("CREATE INDEX itemNumber ON item (number)")
        db.execute("CREATE TABLE batch (number INTEGER PRIMARY KEY AUTOINCREMENT)")
        add(db)
        db.close()
        peer(path, mode, "add", "2")
        assert peer(path, mode, "check") == ["3", "3", "21", "ok"]
        db = sqlcipher(path)
        assert state(db) == (3, 3, 21)
        sound(db)
        db.close()
        print(f"ok: we read, check and write SQLCipher's ({mode}), and it reads it back")


def hot(folder, mode):
    """Alternates kills: ours, theirs. What either acknowledged is there for the other, and nothing else."""
    path = os.path.join(folder, f"hot-{mode}.db")
    peer(path, mode, "add", "3")
    committed = 3
    for round in range(ROUNDS):
        peer(path, mode, "die", check=False)
        hot_file = path + ("-wal" if mode == "wal" else "-journal")
        assert os.path.getsize(hot_file) > 512, f"no hot {hot_file}"
        db = sqlcipher(path)
        assert state(db) == (committed, committed, committed * 7), (round, state(db), committed)
        sound(db)
        add(db)
        committed += 1
        db.close()
        die(path, mode)
        committed += 2
        assert os.path.getsize(hot_file) > 512, f"no hot {hot_file}"
        assert peer(path, mode, "check") == [str(committed), str(committed), str(committed * 7), "ok"], round
        committed += 1
        peer(path, mode, "add", "1")
    print(f"ok: {ROUNDS} hot files of ours and {ROUNDS} of SQLCipher's recovered by the other side ({mode})")


def random_kills(folder, mode):
    path = os.path.join(folder, f"random-{mode}.db")
    acknowledged = 0
    for round in range(ROUNDS):
        process = subprocess.Popen([PEER, path, "sqlcipher", mode, "load"], stdout=subprocess.PIPE, text=True)
        time.sleep(0.15 + random.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        lines = process.communicate()[0].split()
        acknowledged = max([acknowledged] + [int(line) for line in lines])
        if not os.path.exists(path) or acknowledged == 0:
            continue
        db = sqlcipher(path)
        whole, all_, items = state(db)
        assert whole == all_ and items == 7 * whole, (whole, all_, items)
        assert whole in (acknowledged, acknowledged + 1), (whole, acknowledged)
        sound(db)
        acknowledged = whole
        db.close()
    print(f"ok: {ROUNDS} kills at random moments recovered by SQLCipher, {acknowledged} transactions ({mode})")


def multiple_ciphers_check(folder):
    path = os.path.join(folder, "mc.db")
    peer(path, "delete", "add", "4")

    def connect():
        db = apsw.Connection(path)
        db.execute("PRAGMA cipher = 'sqlcipher'")
        db.execute("PRAGMA legacy = 4")
        db.execute(f"PRAGMA key = \"x'{KEY}'\"")
        return db

    db = connect()
    assert db.execute("SELECT count(*) FROM item").fetchone() == (28,)
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO batch DEFAULT VALUES")
    for place in range(7):
        db.execute("INSERT INTO item VALUES (5, ?, 'mc')", (place,))
    db.execute("COMMIT")
    db.close()
    assert peer(path, "delete", "check") == ["5", "5", "35", "ok"]
    print("ok: SQLite3 Multiple Ciphers reads and writes ours")


def passphrases(folder):
    """A passphrase, other options and a raw key with salt, made by either side."""
    cases = [
        ("passphrase", "PRAGMA key = 'correct horse'", []),
        ("options", "PRAGMA key = 'correct horse'", ["PRAGMA cipher_page_size = 8192", "PRAGMA kdf_iter = 1000"]),
        ("salted", f"""PRAGMA key = "x'{KEY}{'ab' * 16}'" """, []),
    ]
    for name, key, pragmas in cases:
        path = os.path.join(folder, f"{name}-theirs.db")

        def connect(path):
            db = sqlcipher3.connect(path, isolation_level=None)
            for statement in [key, *pragmas]:
                db.execute(statement)
            return db

        db = connect(path)
        db.execute("CREATE TABLE v (v)")
        db.execute("INSERT INTO v VALUES (42)")
        db.close()
        assert subprocess.run([PEER, path, name, "delete", "read"], capture_output=True, text=True).stdout == "42\n", name
        ours = os.path.join(folder, f"{name}-ours.db")
        done = subprocess.run([PEER, ours, name, "delete", "make"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        db = connect(ours)
        assert db.execute("SELECT v FROM v").fetchone() == (42,)
        assert db.execute("PRAGMA cipher_integrity_check").fetchall() == []
        db.close()
        print(f"ok: {name}, both ways")


def main():
    folder = tempfile.mkdtemp(prefix="interop-")
    try:
        print("SQLCipher", sqlcipher3.connect(":memory:").execute("PRAGMA cipher_version").fetchone()[0],
              "SQLite", sqlcipher3.sqlite_version, "and SQLite3 Multiple Ciphers", apsw.sqlite3_lib_version()
              if hasattr(apsw, "sqlite3_lib_version") else apsw.sqlitelibversion())
        both_directions(folder)
        multiple_ciphers_check(folder)
        for mode in ["delete", "wal"]:
            hot(folder, mode)
            random_kills(folder, mode)
        passphrases(folder)
    finally:
        shutil.rmtree(folder)
    print("interop: all passed")


main()
