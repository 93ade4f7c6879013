"""Synchronizes devices with Kinto, in memory and on PostgreSQL: `make interop`.

Usage: interop.py PEER. PEER is the built KintoTestPeer. Prints one line for each thing that holds, and fails with the
first that does not. TANDEM_KINTO_SECONDS=180 selects the long form: 8 devices, 20,000 objects, nginx, and the given
time with faults.
"""
import collections
import json
import os
import signal
import subprocess
import sys
import threading
import time

import nginx
from devices import Device
from proxy import Proxy
from servers import Client, Failure, Kinto, Servers, wait_for
from writers import ExactReader, Writers, note

PEER = sys.argv[1]
SECONDS = int(os.environ.get("TANDEM_KINTO_SECONDS", "0"))
IS_LONG = SECONDS > 0
USER = "devices:secret"
GUEST = "guest:secret"
# Any name and password is a user. The creator of a bucket owns it.
OPEN = {
    "MULTIAUTH_POLICIES": "basicauth", "KINTO_BUCKET_CREATE_PRINCIPALS": "system.Authenticated",
    "KINTO_INCLUDES": "kinto_attachment file_pages",
}
MEMORY = {
    **OPEN, "KINTO_STORAGE_BACKEND": "kinto.core.storage.memory", "KINTO_STORAGE_URL": "",
    "KINTO_PERMISSION_BACKEND": "kinto.core.permission.memory", "KINTO_PERMISSION_URL": "",
    "KINTO_CACHE_BACKEND": "kinto.core.cache.memory", "KINTO_CACHE_URL": "",
}
# The faults that a server's process survives anyway: no test cuts the power.
POSTGRESQL = ["fsync=off", "shared_buffers=64MB", "max_connections=60"]


def holds(condition, what):
    if not condition:
        raise Failure(f"not so: {what}")
    print(f"kinto: {what}", flush=True)


class Interop:
    """Servers, and devices whose processes end with the exchange, also after a failure."""

    def __init__(self, servers):
        self.servers, self.devices, self.proxies = servers, [], []

    def device(self, bucket, number=0, encrypted=False, port=None, user=USER, path=None, **options):
        # Each device has a store of its own in all of a run, unless it starts again.
        path = path or os.path.join(self.servers.folder, f"device-{len(self.devices)}.tandem")
        url = f"http://127.0.0.1:{port or self.kintos[0].port}/v1/buckets/{bucket}"
        device = Device(PEER, path, url, user, number, encrypted, options)
        self.devices.append(device)
        return device

    def proxy(self, ports, seed=1):
        proxy = Proxy(ports, seed).start()
        self.proxies.append(proxy)
        return proxy

    def print_logs(self):
        """Prints the ends of the logs of all processes, to find the cause of a failure."""
        logs = {device.name: device.last_words() for device in self.devices}
        kintos = [kinto.process for kinto in self.kintos]
        for process in [*self.servers.others, *kintos, self.servers.postgresql.process]:
            if process:
                logs[process.name] = process.last_words()
        for name, words in logs.items():
            if words:
                print(f"--- the log of {name} ends with:\n{words}", file=sys.stderr)

    def end(self):
        for device in self.devices:
            device.kill()
        for proxy in self.proxies:
            proxy.stop()
        self.servers.stop()

    @property
    def kintos(self):
        return self.servers.kintos

    def create_bucket(self, name, *names):
        client = Client(self.kintos[0].port, USER)
        client.expect([200, 201], "PUT", f"/buckets/{name}", {})
        for collection in names or ["note", "topic"]:
            client.expect([200, 201], "PUT", f"/buckets/{name}/collections/{collection}", {})
        return client

    def records(self, bucket, collection="note"):
        return Client(self.kintos[0].port, USER).records(f"/buckets/{bucket}/collections/{collection}")

    def check_equal(self, bucket, device):
        """Fails unless a device has the server's records, with the same values, and no others."""
        objects, records = device.objects(), self.records(bucket)
        if objects.keys() != records.keys():
            raise Failure(
                f"{device.name} differs from the server: {len(objects.keys() - records.keys())} objects are only on "
                f"the device, {len(records.keys() - objects.keys())} only on the server: "
                f"{sorted(objects.keys() ^ records.keys())[:5]}")
        for id, record in records.items():
            theirs = {name: record.get(name) for name in objects[id]}
            # A counter that was never set is missing on the server.
            ours = {name: value or None for name, value in objects[id].items()}
            if ours != {name: value or None for name, value in theirs.items()}:
                raise Failure(f"{device.name} has {objects[id]}, the server {record}")
        return records

    # MARK: The requirements of a remote

    def check_conformance(self, kind, kinto):
        client = Client(kinto.port, USER)
        client.expect([200, 201], "PUT", "/buckets/conformance", {})
        done = subprocess.run(
            [PEER, "conformance", f"{kinto.url}/buckets/conformance"], capture_output=True, text=True, timeout=120,
            env={**os.environ, "KINTO_USER": USER})
        if done.returncode != 0:
            raise Failure(f"conformance on Kinto {kind}: {done.returncode}\n{done.stdout}{done.stderr}")
        holds(True, f"{kind}: {done.stdout.strip()}")

    # MARK: Several writers

    def check_writers(self, seconds):
        """Six writers at two processes: times are assigned before the commit, so records appear behind newer ones."""
        ports = [kinto.port for kinto in self.kintos]
        client = self.create_bucket("trial")
        # The overlap is shorter than the trial, so that a position without one would be noticed.
        device = self.device("trial", overlap=3)
        device.do("sync")
        exact = ExactReader(ports[0], USER, "trial", "note")
        with Writers(ports, USER, "trial", "note", 6) as writers:
            device.begin(f"pull {seconds}")
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                exact.pull()
        pulls = int(device.finish("pull", seconds + 30)[0].split()[1])
        device.do("pull 0")
        exact.pull()
        objects, stored = device.objects(), writers.stored
        holds(len(stored) > 100, f"six writers at two processes stored {len(stored)} records "
              f"(and repeated {writers.contentions} requests)")
        missing = stored.keys() - objects.keys()
        holds(not missing, f"a device that pulled {pulls} times meanwhile missed none of them "
              f"(a reader without an overlap missed {len(stored.keys() - exact.seen)})")
        self.check_equal("trial", device)
        device.quit()
        client.close()

    def check_simultaneous_edits(self, rounds):
        """Two clients change one record at once, with the same If-Match: see kinto.storage_isolation_level."""
        clients = [self.create_bucket("edits"), Client(self.kintos[1].port, USER)]
        for round in range(rounds):
            path = f"/buckets/edits/collections/note/records/record-{round}"
            clients[0].expect([201], "PUT", path, {"data": {"a": 0, "b": 0}})
            fields = {"If-Match": clients[0].get(path)[1]["ETag"]}
            statuses, barrier = {}, threading.Barrier(2)

            def edit(number, member):
                barrier.wait(10)
                statuses[member] = clients[number].request("PATCH", path, {"data": {member: 1}}, fields)[0]

            threads = [threading.Thread(target=edit, args=each) for each in [(0, "a"), (1, "b")]]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(30)
            record = clients[0].get(path)[2]["data"]
            lost = [member for member, status in statuses.items() if status == 200 and record[member] != 1]
            if len(statuses) != 2 or lost:
                raise Failure(f"an acknowledged edit is lost: {statuses} {record}")
        holds(True, f"of two edits of a record with the same If-Match at once, none is lost in {rounds} rounds")
        for client in clients:
            client.close()

    # MARK: Another generation of the data

    def check_recreated_collection(self):
        client = self.create_bucket("recreated")
        device = self.device("recreated")
        device.do("insert old 20")
        device.do("sync")
        device.do("insert unsent 3")
        client.expect([200], "DELETE", "/buckets/recreated/collections/note")
        client.expect([200, 201], "PUT", "/buckets/recreated/collections/note", {})
        for number in range(5):
            path = f"/buckets/recreated/collections/note/records/new-{number}"
            client.expect([201], "PUT", path, {"data": note(f"new-{number}")})
        device.do("finish 30")
        tags = sorted(record["tag"] for record in self.check_equal("recreated", device).values())
        expected = [f"new-{n}" for n in range(5)] + [f"unsent-{n}" for n in range(3)]
        holds(tags == expected, "a recreated collection: the device has the new records and its unsent ones, no others")
        device.quit()
        client.close()

    def check_restored_database(self):
        """A restored backup with the documented step after it, and without it, after new writes."""
        for bucket in ("restored", "silent"):
            self.create_bucket(bucket).close()
        device, other = self.device("restored"), self.device("restored", encrypted=True)
        device.do("insert early 20")
        device.do("finish 30")
        other.do("finish 30")
        silent = self.device("silent")
        silent.do("insert early 20")
        # The second pull fetches what this device has sent.
        silent.do("finish 30")
        silent.do("sync")
        dump = os.path.join(self.servers.folder, "backup")
        self.servers.postgresql.dump(dump)
        silent.do("insert late 10")
        silent.do("finish 30")
        silent.do("sync")
        silent.do("insert unsent 3")
        silent.quit()
        device.do("insert late 10")
        device.do("finish 30")
        other.do("finish 30")
        other.do("insert unsent 3")
        for kinto in self.kintos:
            kinto.stop()
        self.servers.postgresql.restore(dump)
        self.servers.restart_kintos()
        # The documented step after a restored backup. Without it, new writes hide the restored state.
        subprocess.run(
            ["Scripts/kinto/production/new-generation.sh", f"{self.kintos[0].url}/buckets/restored"], check=True,
            timeout=30, stdout=subprocess.DEVNULL, env={**os.environ, "KINTO_USER": USER})
        client = Client(self.kintos[0].port, USER)
        client.expect([201], "PUT", "/buckets/silent/collections/note/records/new", {"data": note("new-0")})
        client.close()
        # The process of the device has ended, as an app does. It starts again on the same store.
        silent = self.device("silent", path=silent.path)
        silent.do("finish 30")
        tags = collections.Counter(record["tag"] for record in self.check_equal("silent", silent).values())
        expected = {f"early-{n}" for n in range(20)} | {f"unsent-{n}" for n in range(3)} | {"new-0"}
        holds(tags.keys() == expected and max(tags.values()) == 1,
              "a restored database with new records and without the documented step is detected at the next start")
        silent.quit()
        for each in (other, device, other):
            each.do("finish 30")
        tags = collections.Counter(record["tag"] for record in self.check_equal("restored", device).values())
        self.check_equal("restored", other)
        expected = {f"early-{n}" for n in range(20)} | {f"unsent-{n}" for n in range(3)}
        holds(tags.keys() == expected and max(tags.values()) == 1,
              "a database restored from a backup: both devices have its records and the unsent ones, no others")
        device.quit()
        other.quit()

    # MARK: Sharing

    def check_sharing(self):
        """Two users: one owns the notes, the other one may read some and write some."""
        client = self.create_bucket("sharing")
        collection = "/buckets/sharing/collections/note"
        owner = self.device("sharing")
        guest = self.device("sharing", 1, encrypted=True, user=GUEST)
        (line,) = guest.do("principal")
        name = line.split()[1]
        # As Tandem creates collections. Without it, each change of the permissions would cause a full pull.
        client.expect([200], "PATCH", collection, {"data": {"generation": "1"}})
        # The guest reads all topics, and no note.
        client.expect([200], "PATCH", "/buckets/sharing/collections/topic", {"permissions": {"read": [name]}})
        for number in range(6):
            owner.do(f"add note-{number}")
        owner.do("finish 30")
        reasons = [line for line in guest.do("attempt") if line.startswith("unpulled ")]
        holds(len(reasons) == 1 and "cannot access" in reasons[0],
              "a user without a shared note gets an error in words")

        for number in range(4):
            owner.do(f"share note-{number} {name} {'read' if number < 2 else 'write'}")
        permissions = owner.do("permissions note-2")
        holds(permissions[0] == "readers " and name in permissions[1], "the owner sees the permissions of a note")
        guest.do("sync")
        self.expect_tags(guest, [f"note-{number}" for number in range(4)], "a guest has exactly the shared notes")

        for tag in ("note-0", "note-2", "note-3"):
            guest.do(f"edit {tag} guest")
        guest.do("add guest-0")
        refusals = self.refusals(guest)
        holds(refusals.keys() == {"note-0", "guest-0"}
              and all(status == 403 and "cannot access" in message for status, message in refusals.values()),
              "the edit of a read-only note and an insert are refused in words, by operation")
        owner.do("finish 30")
        titles = {note["tag"]: note["title"] for note in owner.objects().values()}
        holds([titles[f"note-{number}"] for number in range(4)] == ["note-0", "note-1", "guest", "guest"],
              "the other edits of the same batch arrived at the owner")
        holds(refusals == self.refusals(guest), "a refused operation waits for the user")
        client.expect([200], "PATCH", collection, {"permissions": {"record:create": [name]}})
        guest.do("retry")
        refusals = self.refusals(guest)
        holds(refusals.keys() == {"note-0"}, "a guest who may create notes creates one")
        guest.do("discard")
        guest.do("finish 30")
        titles = {note["tag"]: note["title"] for note in guest.objects().values()}
        holds(titles["note-0"] == "note-0", "a discarded edit returns to the owner's value")
        owner.do("finish 30")
        everything = [f"note-{number}" for number in range(6)] + ["guest-0"]
        self.expect_tags(owner, everything, "the owner has the guest's note")

        owner.do(f"unshare note-1 {name}")
        owner.do("delete note-2")
        owner.do("finish 30")
        guest.do("edit note-3 late")
        owner.do(f"unshare note-3 {name}")
        lines = guest.do("attempt")
        holds("lost note-3" in lines, "an unsent edit of a note that is no longer shared is reported")
        self.expect_tags(guest, ["note-0", "guest-0"], "a guest loses notes that were deleted or are no longer shared")

        # The notes do not change when a user joins the group.
        group = "/buckets/sharing/groups/friends"
        client.expect([201], "PUT", group, {"data": {"members": []}})
        owner.do(f"share note-4 {group} read")
        owner.do("finish 30")
        guest.do("sync")
        client.expect([200], "PATCH", group, {"data": {"members": [name]}})
        guest.do("sync")
        self.expect_tags(guest, ["note-0", "note-4", "guest-0"], "a guest who joins a group gets its notes")
        for readers, tags in [
                ([name], [tag for tag in everything if tag != "note-2"]), ([], ["note-0", "note-4", "guest-0"])]:
            client.expect([200], "PATCH", collection, {"permissions": {"read": readers}})
            guest.do("sync")
            self.expect_tags(
                guest, tags, "a guest " + ("gets" if readers else "loses") + " the notes of the whole collection")
        # Its own delete is not listed either.
        guest.do("delete guest-0")
        guest.do("finish 30")
        owner.do("finish 30")
        self.expect_tags(guest, ["note-0", "note-4"], "a guest's own delete arrives")
        self.check_equal("sharing", owner)
        owner.quit()
        guest.quit()
        client.close()

    def expect_tags(self, device, tags, what):
        found = sorted(note["tag"] for note in device.objects().values())
        if found != sorted(tags):
            raise Failure(f"{device.name} has {found}, not {sorted(tags)}: {what}")
        holds(True, what)

    def refusals(self, device):
        """Synchronizes once. Returns the status and the message of each refused operation, by the tag of its note."""
        lines = [line.removeprefix("refused ") for line in device.do("attempt") if line.startswith("refused ")]
        return {each["tag"]: (each["status"], each["message"]) for each in map(json.loads, lines)}

    # MARK: Faults

    def check_faults(self, seconds, count, objects):
        """Devices that work while a server is killed, PostgreSQL restarts, and a proxy loses responses."""
        self.create_bucket("faults").close()
        ports = [kinto.port for kinto in self.kintos]
        proxy = self.proxy([nginx.start(self.servers)] if IS_LONG else ports)
        if IS_LONG:
            wait_for("nginx to respond", lambda: self._responds(proxy.port), 20)
        started = time.monotonic()
        devices = [
            self.device("faults", number, encrypted=number % 2 == 1, port=proxy.port) for number in range(count)]
        patience = 60 + objects // 50
        devices[0].do(f"insert start {objects // 2}", patience)
        devices[0].do(f"finish {patience}", patience + 10)
        for device in devices:
            device.begin(f"finish {patience}")
        for device in devices:
            device.finish("the first pull", patience + 10)
        taken = time.monotonic() - started
        print(f"kinto: {count} devices have {objects // 2} objects after {taken:.0f} s", flush=True)

        each = objects // 2 // count
        proxy.reset()
        for number, device in enumerate(devices):
            device.begin(f"work {number + 1} {seconds} {each}")
        self._cause_faults(proxy, seconds)
        for device in devices:
            device.finish("work", seconds + patience)
        proxy.faults = {}
        counts = proxy.reset()
        # The second round brings what other devices sent in the first one.
        for _ in range(2):
            for device in devices:
                device.begin(f"finish {patience}")
            for device in devices:
                device.finish("the last sync", patience + 10)
        records = None
        for device in devices:
            records = self.check_equal("faults", device)
        self._check_acts(records, devices, objects // 2, seconds)
        topics = self.records("faults", "topic")
        missing = [record["id"] for record in records.values() if record.get("topic") not in (None, *topics)]
        if missing:
            raise Failure(f"{len(missing)} records refer to missing topics: {missing[:5]}")
        lost = ", ".join(f"{counts[name]} {what}" for name, what in [
            ("refuse", "requests refused"), ("lose", "responses lost"), ("cut", "responses cut"),
            ("no server", "without a server"), ("status 503", "answered with 503")])
        holds(True, f"{count} devices, half of them encrypted, with {len(records)} objects worked for {seconds} s: "
              f"each equals the server, nothing is lost, nothing exists twice ({counts['requests']} requests; {lost})")
        for device in devices:
            device.quit()

    def _responds(self, port):
        try:
            return Client(port).get("/")[0] == 200
        except OSError:
            return False

    def _cause_faults(self, proxy, seconds):
        started = time.monotonic()

        def at(part):
            time.sleep(max(0, started + part * seconds - time.monotonic()))

        proxy.faults = {"refuse": 0.01, "lose": 0.03, "cut": 0.01}
        pause = 5 if IS_LONG else 0.5
        at(0.2)
        self.kintos[0].kill()
        time.sleep(pause)
        self.kintos[0].start()
        print("kinto: a process was killed with -9 and started again", flush=True)
        at(0.5)
        self.servers.postgresql.stop()
        time.sleep(pause)
        self.servers.postgresql.start()
        print("kinto: PostgreSQL was stopped and started again", flush=True)
        at(0.8)

    def _check_acts(self, records, devices, started, seconds):
        """Compares the records with everything that the devices report to have done."""
        tags = collections.Counter(record["tag"] for record in records.values())
        twice = [tag for tag, number in tags.items() if number > 1]
        if twice:
            raise Failure(f"{len(twice)} objects exist twice: {twice[:5]}")
        expected, values, acts = {f"start-{number}" for number in range(started)}, {}, 0
        for device in devices:
            edits = sum(act["act"] == "set" for act in device.acts)
            # A device edits nothing while many of its operations are unsent.
            if edits < 2 * seconds:
                raise Failure(f"{device.name} made only {edits} edits in {seconds} s")
            for act in device.acts:
                acts += 1
                match act["act"]:
                    case "insert": expected.add(act["tag"])
                    case "delete": expected.discard(act["tag"])
                    case "set": values[act["tag"], act["member"]] = act["value"]
        if tags.keys() != expected:
            raise Failure(
                f"{len(expected - tags.keys())} objects are lost: {sorted(expected - tags.keys())[:5]}; "
                f"{len(tags.keys() - expected)} are back: {sorted(tags.keys() - expected)[:5]}")
        by_tag = {record["tag"]: record for record in records.values()}
        for (tag, member), value in values.items():
            if tag in by_tag and by_tag[tag].get(member) != value:
                raise Failure(f"an edit is lost: {tag}.{member} is {by_tag[tag].get(member)}, was set to {value}")
        holds(acts > 0 and values, f"the server has the results of {acts} acts, {len(values)} of them edits")

    # MARK: Live sync

    def check_live_sync(self, seconds):
        """Two devices that poll: a change of one appears in the other's live query. Then the cost of waiting."""
        self.create_bucket("live").close()
        proxy = self.proxy([kinto.port for kinto in self.kintos])
        interval = 1
        phone, tablet = (self.device("live", number, encrypted=number == 1, port=proxy.port) for number in range(2))
        for device in (phone, tablet):
            device.do("sync")
            device.do("live")
            device.do(f"poll {interval}")
        delays = []
        for round in range(3):
            sender, receiver = (phone, tablet) if round % 2 == 0 else (tablet, phone)
            begun = time.monotonic()
            sender.do(f"insert live{round} 1")
            arrival = receiver.wait_for_event(
                f"live{round}-0, inserted on {sender.name}", lambda event: event["tag"] == f"live{round}-0", 20)
            delays.append(arrival - begun)
        begun = time.monotonic()
        tablet.do("edit live0-0 edited")
        arrival = phone.wait_for_event(
            "an edited title", lambda event: event["tag"] == "live0-0" and event["title"] == "edited", 20)
        delays.append(arrival - begun)
        holds(True, f"a change of one device appears in the live query of another after "
              f"{min(delays):.1f} to {max(delays):.1f} s, at an interval of {interval} s")

        # The pulls after the last change must have ended.
        time.sleep(3 * interval)
        proxy.reset()
        time.sleep(seconds)
        counts = proxy.reset()
        requests = counts["requests"]
        holds(requests > 0 and counts["status 304"] == requests,
              f"two idle devices with two collections sent {requests} requests in {seconds} s, all answered with 304: "
              f"{counts['request bytes'] // max(1, requests)} bytes a request, "
              f"{counts['response bytes'] // max(1, requests)} bytes a response")
        for device in (phone, tablet):
            device.do("stop")
            device.quit()


def main():
    started = time.monotonic()
    # The processes end also if this one is terminated.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    interop = Interop(Servers(settings=POSTGRESQL))
    try:
        memory = interop.servers.start_kinto(settings=MEMORY)
        interop.check_conformance("in memory", memory)
        memory.stop()
        interop.kintos.clear()

        interop.servers.start_postgresql()
        Kinto(interop.servers.folder, settings=OPEN).migrate()
        interop.servers.start_kintos(2, settings=OPEN)
        interop.check_conformance("on PostgreSQL", interop.kintos[0])
        interop.check_writers(60 if IS_LONG else 5)
        interop.check_simultaneous_edits(200 if IS_LONG else 20)
        interop.check_sharing()
        interop.check_recreated_collection()
        interop.check_restored_database()
        interop.check_live_sync(20 if IS_LONG else 3)
        if IS_LONG:
            interop.check_faults(SECONDS, 8, 20_000)
        else:
            interop.check_faults(8, 4, 800)
        print(f"kinto: all passed in {time.monotonic() - started:.0f} s")
        return 0
    except (Failure, subprocess.TimeoutExpired) as failure:
        print(f"interop: kinto: {failure}", file=sys.stderr)
        interop.print_logs()
        return 1
    finally:
        interop.end()


if __name__ == "__main__":
    sys.exit(main())
