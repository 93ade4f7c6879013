"""The server and the Python client of the benchmarks `kinto-push` and `kinto-pull`.

    bench.py serve                      starts Kinto on PostgreSQL, prints its URL, and serves until its input ends
    bench.py push URL BUCKET CARDS      creates the cards of a file in the collection Card, by kinto-http in batches
    bench.py send URL BUCKET CARDS      sends the same batches, encoded in advance, over one connection
    bench.py pull URL BUCKET DATABASE   stores the records of the collection Card in a new SQLite database
    bench.py outcome URL BUCKET         describes the records of the collection Card

CARDS has a JSON object on each line. `push`, `send` and `pull` print their seconds, without the start of Python, and
the others their result. No client that sends these batches one after another can be faster than `send`. The account is
the same as in Benchmarks/Sources/Benchmarks/Kinto.
"""
import base64
import json
import logging
import os
import sqlite3
import sys
import time
import urllib.parse

import kinto_http

from servers import Client, Kinto, Servers

USER = ("bench", "secret")
# Any name and password is a user; bcrypt is no part of the task.
OPEN = {"MULTIAUTH_POLICIES": "basicauth", "KINTO_BUCKET_CREATE_PRINCIPALS": "system.Authenticated",
        "KINTO_INCLUDES": "kinto_attachment file_pages"}
COLUMNS = ["id", "last_modified", "shop", "name", "barcode", "points", "isPinned", "createdOn", "payload", "note"]


def client(url, bucket):
    # NB: kinto-http logs each record of a batch as a warning, which Python prints.
    logging.getLogger("kinto_http").setLevel(logging.ERROR)
    return kinto_http.Client(server_url=url, auth=USER, bucket=bucket, collection="Card")


def serve():
    servers = Servers(prefix="tandem-bench-")
    try:
        servers.start_postgresql()
        Kinto(servers.folder, settings=OPEN).migrate()
        print(servers.start_kinto(settings=OPEN).url, flush=True)
        sys.stdin.read()
    finally:
        servers.stop()


def read_cards(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def push(url, bucket, path):
    cards = read_cards(path)
    started = time.perf_counter()
    with client(url, bucket).batch() as batch:
        for card in cards:
            batch.create_record(id=card.pop("id"), data=card)
    return time.perf_counter() - started


def send(url, bucket, path):
    client = Client(urllib.parse.urlsplit(url).port, ":".join(USER))
    records = f"/v1/buckets/{bucket}/collections/Card/records"
    new = {"method": "PUT", "headers": {"If-None-Match": "*"}}
    requests = [{**new, "path": f"{records}/{card.pop('id')}", "body": {"data": card}} for card in read_cards(path)]
    size = client.expect([200], "GET", "/")["settings"]["batch_max_requests"]
    bodies = [
        json.dumps({"requests": requests[start:start + size]}).encode() for start in range(0, len(requests), size)]
    started = time.perf_counter()
    responses = [client.exchange("POST", "/batch", body) for body in bodies]
    seconds = time.perf_counter() - started
    statuses = {status for status, _, _ in responses}
    if statuses == {200}:
        statuses = {part["status"] for _, _, content in responses for part in json.loads(content)["responses"]}
    if statuses != {201}:
        sys.exit(f"bench.py: the server responded with {statuses}")
    return seconds


def pull(url, bucket, path):
    started = time.perf_counter()
    records = client(url, bucket).get_records(_sort="last_modified")
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute(f"CREATE TABLE Card ({', '.join(COLUMNS)}, PRIMARY KEY (id)) WITHOUT ROWID")
    database.execute("CREATE INDEX barcode ON Card (barcode)")
    with database:
        database.executemany(
            f"INSERT INTO Card VALUES ({', '.join('?' * len(COLUMNS))})",
            ([record.get(column) for column in COLUMNS] for record in records))
    database.close()
    return time.perf_counter() - started


def summary(cards):
    """Describes cards as `SyncedStore.contents` does."""
    count = points = size = 0
    for card in cards:
        count += 1
        points += int(card["points"])
        size += sum(len((card.get(name) or "").encode()) for name in ("shop", "barcode", "note"))
        size += len(base64.b64decode(card["payload"]))
    return f"{count} cards, {points} points, {size} bytes"


def main(command, *words):
    match command:
        case "serve":
            serve()
        case "push":
            print(push(*words))
        case "send":
            print(send(*words))
        case "pull":
            seconds = pull(*words)
            database = sqlite3.connect(words[2])
            database.row_factory = sqlite3.Row
            print(seconds, summary(dict(row) for row in database.execute("SELECT * FROM Card")), sep="\t")
        case "outcome":
            print(summary(client(*words).get_records()))
        case _:
            sys.exit(f"bench.py: unknown command {command}")


if __name__ == "__main__":
    os.environ["PYTHONWARNINGS"] = "ignore"
    main(*sys.argv[1:])
