"""Measures the cost of requests and records of Kinto on PostgreSQL, for the article about running it.

Usage: measure.py. It starts one Kinto process and prints the CPU time of Kinto and of PostgreSQL for each kind of
request, which does not depend on other work of the machine, the bytes, the rows, and the connections.
"""
import json
import os
import uuid

from servers import Client, Kinto, Servers

RECORD = {
    "shop": "Перекрёсток на Садовой", "barcode": "2999999999021", "points": 1200, "pinned": False,
    "note": "у кассы напомнить про скидку", "owner": str(uuid.uuid4()), "brand": str(uuid.uuid4()), "color": "#2f7a3b",
}
TICK = os.sysconf("SC_CLK_TCK")


def own_and_reaped(pid):
    """The CPU seconds of a process, and those of its children that have ended."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK, (int(fields[13]) + int(fields[14])) / TICK


def children(pid):
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    if int(file.read().rsplit(")", 1)[1].split()[1]) == pid:
                        yield int(entry)
            except OSError:
                continue


class Measurement:
    def __init__(self, settings=(), kinto_settings=None):
        self.servers = Servers(settings=settings)
        self.servers.start_postgresql()
        options = {"settings": kinto_settings or {}}
        kinto = Kinto(self.servers.folder, **options)
        kinto.migrate()
        kinto.create_user("admin", "secret")
        self.kinto = self.servers.start_kinto(**options)
        self.client = Client(self.kinto.port, "admin:secret")
        self.records = "/buckets/b/collections/c/records"
        self.client.expect([201], "PUT", "/buckets/b", {"permissions": {"write": ["account:admin"]}})
        self.client.expect([201], "PUT", "/buckets/b/collections/c", {})

    def cpu(self):
        postmaster = self.servers.postgresql.process.process.pid
        backends = sum(own_and_reaped(child)[0] for child in children(postmaster))
        return own_and_reaped(self.kinto.process.process.pid)[0], backends + sum(own_and_reaped(postmaster))

    def measure(self, name, count, request, records=1):
        """Prints the costs of one request. The CPU times of Linux are multiples of 10 ms, so `count` must be large."""
        request(0)
        before, sent, received = self.cpu(), 0, 0
        for number in range(1, count + 1):
            response, body = request(number)
            sent += len(json.dumps(body)) if body else 0
            received += int(response[1].get("Content-Length", 0))
        kinto, postgresql = (1000 * (after - old) / count for after, old in zip(self.cpu(), before))
        print(
            f"{name:42} {kinto:7.2f} ms {postgresql:7.2f} ms {sent // count:9,} B {received // count:9,} B"
            + (f"   {(kinto + postgresql) / records:5.2f} ms a record" if records > 1 else ""), flush=True)

    # MARK: Requests

    def put(self, path):
        body = {"data": RECORD}
        response = self.client.request("PUT", path, body, {"If-None-Match": "*"})
        assert response[0] == 201, response
        return response, body

    def requests(self):
        print(f"{'a request':42} {'Kinto':>10} {'PostgreSQL':>10} {'body':>9} {'response':>11}")
        etags, ids = [], [str(uuid.uuid4()) for _ in range(2001)]
        self.measure("PUT of a new record", 1000, lambda number: self.put(f"{self.records}/{ids[number]}"))

        def patch(number):
            path, body = f"{self.records}/{ids[number]}", {"data": {"points": number}}
            etag = self.client.get(path)[1]["ETag"] if not etags else etags[number]
            response = self.client.request("PATCH", path, body, {"If-Match": etag, "Response-Behavior": "light"})
            assert response[0] == 200, response
            return response, body

        listed = self.client.records("/buckets/b/collections/c")
        etags += [f'"{listed[id]["last_modified"]}"' for id in ids[:1001]]
        self.measure("PATCH with If-Match", 1000, patch)
        for size in (25, 100):
            def batch(number):
                requests = [
                    {"method": "PUT", "path": f"{self.records}/{uuid.uuid4()}", "headers": {"If-None-Match": "*"},
                     "body": {"data": RECORD}} for _ in range(size)]
                body = {"requests": requests}
                response = self.client.request("POST", "/batch", body)
                assert response[0] == 200, response
                assert all(each["status"] == 201 for each in response[2]["responses"])
                return response, body
            self.measure(f"batch of {size} new records", 1000 // size, batch, size)
        for size in (100, 1000):
            path = f"{self.records}?_sort=last_modified&_since=0&_limit={size}"
            self.measure(f"list of {size} records", 20, lambda number: (self.client.get(path), None), size)
        etag = {"If-None-Match": self.client.get(f"{self.records}?_limit=1")[1]["ETag"]}

        def idle(number):
            response = self.client.get(f"{self.records}?_sort=last_modified&_limit=1", fields=etag)
            assert response[0] == 304, response
            return response, None

        self.measure("list that has not changed (304)", 1000, idle)

    # MARK: Sizes

    def sizes(self):
        sql = self.servers.postgresql.sql
        sql("VACUUM FULL")
        (count,), = (line.split("\t") for line in sql("SELECT count(*) FROM objects WHERE resource_name = 'record'"))
        entries = sql("SELECT count(*) FROM access_control_entries")[0]
        for table in ("objects", "access_control_entries"):
            size = int(sql(f"SELECT pg_total_relation_size('{table}')")[0])
            table_only = int(sql(f"SELECT pg_relation_size('{table}')")[0])
            print(f"{table}: {size / int(count):.0f} bytes a record with indexes, {table_only / int(count):.0f} without")
        size = len(json.dumps(RECORD, ensure_ascii=False).encode())
        print(f"{count} records of {size} bytes JSON, {entries} entries of access control")

    def connections(self):
        for line in self.servers.postgresql.sql(
                "SELECT state, count(*) FROM pg_stat_activity WHERE usename = 'kinto' AND pid <> pg_backend_pid()"
                " AND backend_type = 'client backend' GROUP BY state"):
            print("connections:", line)
        with open(f"/proc/{self.kinto.process.process.pid}/status") as file:
            print("memory of Kinto:", next(line for line in file if line.startswith("VmRSS")).split()[1], "kB")

    def stop(self):
        self.servers.stop()


if __name__ == "__main__":
    measurement = Measurement()
    try:
        measurement.requests()
        measurement.sizes()
        measurement.connections()
    finally:
        measurement.stop()
