"""Writers of records, as other clients of a server are: each a thread with a connection of its own."""
import threading
import uuid

from servers import Client, Failure


def note(tag):
    """Returns the members of a record as the devices' model has them: see Tests/KintoTestPeer/KintoNote.swift."""
    return {"tag": tag, "title": tag, "topic": None, **{f"c{number}": 0 for number in range(8)}}


class Writers:
    """Threads that create records at several servers, one by one and in batches, and note the stored ones."""

    def __init__(self, ports, user, bucket, collection, count):
        self.bucket, self.collection = bucket, collection
        self.stored, self.failures, self.contentions = {}, [], 0
        self.end, self.lock = threading.Event(), threading.Lock()
        self.threads = [
            threading.Thread(target=self._run, args=(Client(ports[number % len(ports)], user), number), daemon=True)
            for number in range(count)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *error):
        self.end.set()
        for thread in self.threads:
            thread.join(30)
            if thread.is_alive():
                raise Failure("waited 30 s in vain for a writer to end")
        if self.failures:
            raise Failure(self.failures[0])

    def _run(self, client, number):
        turn = 0
        try:
            while not self.end.is_set():
                turn += 1
                # Small requests overtake the long transactions of batches.
                ids = [str(uuid.uuid4()) for _ in range(25 if (turn + number) % 4 == 0 else 1)]
                (self._batch if len(ids) > 1 else self._single)(client, ids, f"w{number}-{turn}")
        except Exception as error:  # A thread must not fail in silence.
            self.failures.append(f"writer {number}: {error!r}")
        finally:
            client.close()


    def _path(self, id):
        return f"/buckets/{self.bucket}/collections/{self.collection}/records/{id}"

    def _single(self, client, ids, tag):
        status, _, content = client.request("PUT", self._path(ids[0]), {"data": note(tag)}, {"If-None-Match": "*"})
        if status == 409:
            self._note({}, 1)
        elif status == 201:
            self._note({ids[0]: tag})
        else:
            raise Failure(f"PUT: {status} {content}")

    def _batch(self, client, ids, tag):
        tags = {id: f"{tag}-{place}" for place, id in enumerate(ids)}
        requests = [
            {"method": "PUT", "path": self._path(id), "headers": {"If-None-Match": "*"}, "body": {"data": note(tag)}}
            for id, tag in tags.items()]
        content = client.expect([200], "POST", "/batch", {"requests": requests})
        # NB: A 409 in a batch undoes the requests before it, although they report 201.
        contention = max(
            (place for place, response in enumerate(content["responses"]) if response["status"] == 409), default=-1)
        stored = {}
        for place, (id, response) in enumerate(zip(ids, content["responses"])):
            if place > contention:
                if response["status"] != 201:
                    raise Failure(f"PUT in a batch: {response}")
                stored[id] = tags[id]
        self._note(stored, int(contention >= 0))

    def _note(self, stored, contentions=0):
        with self.lock:
            self.stored.update(stored)
            self.contentions += contentions


class ExactReader:
    """A reader that takes the newest time that it has seen for its position, without an overlap: it misses records."""

    def __init__(self, port, user, bucket, collection):
        self.client = Client(port, user)
        self.path = f"/buckets/{bucket}/collections/{collection}/records?_sort=last_modified&_since="
        self.position, self.seen = 0, set()

    def pull(self):
        path = f"{self.path}{self.position}"
        while path:
            status, fields, content = self.client.get(path)
            if status != 200:
                raise Failure(f"GET {path}: {status} {content}")
            for record in content["data"]:
                self.seen.add(record["id"])
                self.position = max(self.position, record["last_modified"])
            path = fields.get("Next-Page")
            path = path[path.index("/v1"):] if path else None
