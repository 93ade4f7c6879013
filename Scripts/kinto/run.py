"""Runs Kinto on PostgreSQL for the cards app until Ctrl-C: `make kinto`.

Usage: run.py [--port PORT] [--keep FOLDER] [--faults] [--run COMMAND...]. The data is in a temporary folder, which is
removed at the end, or in the folder of --keep, which is used again by the next run. With --run it runs a command
instead of waiting, and ends with its exit code. The command finds the bucket's URL in CARDS_SERVER, and two accounts in
CARDS_TOKEN and CARDS_OTHER_TOKEN. With --faults the URL is that of a proxy, and the command causes faults by requests
to the URL in CARDS_FAULTS: see control.py.
"""
import argparse
import json
import os
import secrets
import signal
import subprocess
import sys

from control import Control
from proxy import Proxy
from servers import Client, Failure, Kinto, Servers, free_port, lasting_port

BUCKET = "cards"
# The photographs are records of their own, in `files`.
COLLECTIONS = ["Person", "Brand", "Card", "Star", "files"]
USERS = ["maria", "ada"]


def passwords(folder):
    """Returns the passwords of all accounts, which are made once for a folder."""
    path = os.path.join(folder, "passwords.json")
    if not os.path.exists(path):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            json.dump({user: secrets.token_urlsafe(12) for user in ["admin", *USERS]}, file, indent=1)
    with open(path) as file:
        return json.load(file)


def create_bucket(port, words):
    """Creates the accounts and the bucket of a family: only its members read and write the cards."""
    admin = Client(port, f"admin:{words['admin']}")
    for user in USERS:
        admin.expect([200, 201], "PUT", f"/accounts/{user}", {"data": {"password": words[user]}})
    group = f"/buckets/{BUCKET}/groups/family"
    admin.expect([200, 201], "PUT", f"/buckets/{BUCKET}", {"permissions": {"read": [group]}})
    admin.expect([200, 201], "PUT", group, {"data": {"members": [f"account:{user}" for user in USERS]}})
    for collection in COLLECTIONS:
        # Clients recognize a collection that was deleted and created again by this member.
        settings = {"data": {"generation": secrets.token_hex(16)}, "permissions": {"write": [group]}}
        admin.expect(
            [201, 412], "PUT", f"/buckets/{BUCKET}/collections/{collection}", settings, {"If-None-Match": "*"})


def url(port):
    return f"http://127.0.0.1:{port}/v1/buckets/{BUCKET}"


def instructions(port, words):
    return f"""
Kinto is running: {url(port)}
Connect the cards app, in another terminal and in the folder Examples/DiscountCards:

  CARDS_TOKEN={USERS[0]}:{words[USERS[0]]} swift run cards login Maria --server {url(port)} --store phone.tandem
  swift run cards sync --store phone.tandem

The account for another device is {USERS[1]}:{words[USERS[1]]}. Ctrl-C stops the server."""


def run(command, port, words, faults):
    """Runs a command with the server in its environment. Returns its exit code."""
    tokens = [f"{user}:{words[user]}" for user in USERS]
    environment = {"CARDS_SERVER": url(port), "CARDS_TOKEN": tokens[0], "CARDS_OTHER_TOKEN": tokens[1]}
    if faults:
        proxy = Proxy([port], port=lasting_port()).start()
        environment |= {"CARDS_SERVER": url(proxy.port), "CARDS_FAULTS": Control(proxy).start().url}
    return subprocess.run(command, env={**os.environ, **environment}).returncode


def main():
    parser = argparse.ArgumentParser(prog="make kinto")
    parser.add_argument("--port", type=int, default=8888)
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--run", metavar="COMMAND", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    def end(number, frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    servers = None
    try:
        servers = Servers(options.keep)
        servers.start_postgresql()
        words = passwords(servers.folder)
        port = free_port() if options.run else options.port
        kinto = Kinto(servers.folder, port)
        kinto.migrate()
        kinto.create_user("admin", words["admin"])
        kinto = servers.start_kinto(port)
        create_bucket(port, words)
        if options.run:
            return run(options.run, port, words, options.faults)
        print(instructions(port, words), flush=True)
        while True:
            signal.sigtimedwait([], 1)
            for process in (kinto.process, servers.postgresql.process):
                process.check()
    except KeyboardInterrupt:
        print()
        return 0
    except Failure as failure:
        print(f"kinto: {failure}", file=sys.stderr)
        return 1
    finally:
        # A second Ctrl-C must not interrupt the end of the first one.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if servers:
            servers.stop()
            rest = "The data is removed." if servers.is_temporary else f"The data is in {servers.folder}."
            if not options.run:
                print(f"Both have stopped. {rest}")


if __name__ == "__main__":
    sys.exit(main())
