"""Devices for `make interop`: processes of KintoTestPeer that obey commands, one a line, and report lines."""
import json
import os
import queue
import subprocess
import threading
import time

from servers import Failure, die_with_parent

LONGEST = 60


class Device:
    """A process with a store of its own, which synchronizes it with a bucket.

    NB: Start it from the main thread, as all processes: see servers.Process.
    """

    def __init__(self, peer, path, url, user, number=0, encrypted=False, options=None):
        self.name = f"device {number}" + (" (encrypted)" if encrypted else "")
        self.lines, self.events, self.acts = queue.Queue(), [], []
        self.changed = threading.Condition()
        settings = {"number": number, "encrypted": encrypted, **(options or {})}
        self.errors = open(path + ".log", "ab")
        self.path = path
        self.process = subprocess.Popen(
            [peer, "device", path, url, json.dumps(settings)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors, text=True, start_new_session=True, preexec_fn=die_with_parent,
            env={**os.environ, "KINTO_USER": user})
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        """Sorts the lines of the process: `act` what it did, `event` a change of its live query, else an answer."""
        for line in self.process.stdout:
            kind, _, rest = line.rstrip("\n").partition(" ")
            if kind == "act":
                self.acts.append(json.loads(rest))
            elif kind == "event":
                with self.changed:
                    self.events.append((time.monotonic(), json.loads(rest)))
                    self.changed.notify_all()
            else:
                self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    # MARK: Commands

    def begin(self, command):
        """Sends a command without waiting for its end."""
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Failure(f"{self.name} has ended ({error}): {self.last_words()}") from None

    def finish(self, command, seconds=LONGEST):
        """Waits for the end of a command that was begun. Returns the lines before `done`."""
        end, lines = time.monotonic() + seconds, []
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise Failure(f"waited {seconds} s in vain for {self.name} to finish: {command}") from None
            if line is None:
                raise Failure(f"{self.name} ended during: {command}\n{self.last_words()}")
            if line == "done":
                return lines
            if line.startswith("failed "):
                raise Failure(f"{self.name}: {command}: {line[7:]}")
            lines.append(line)

    def do(self, command, seconds=LONGEST):
        self.begin(command)
        return self.finish(command, seconds)

    def objects(self):
        """Returns all objects of the store by ID, and fails if one is not synced."""
        objects = {}
        for line in self.do("dump"):
            record = json.loads(line)
            if record["id"] in objects:
                raise Failure(f"{self.name} has an object twice: {record}")
            objects[record["id"]] = record
        return objects

    def wait_for_event(self, what, matches, seconds):
        """Waits for a change of the live query. Returns the time of its arrival."""
        end = time.monotonic() + seconds
        with self.changed:
            while True:
                for arrival, event in self.events:
                    if matches(event):
                        return arrival
                left = end - time.monotonic()
                if left <= 0:
                    raise Failure(f"waited {seconds} s in vain for {self.name} to show {what}")
                self.changed.wait(left)

    # MARK: The end

    def last_words(self):
        with open(self.path + ".log", "rb") as file:
            return file.read()[-3000:].decode(errors="replace").strip()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.thread.join(5)
        self.errors.close()

    def quit(self):
        """Lets the process end by itself, and kills it if it does not."""
        try:
            self.process.stdin.close()
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            pass
        self.kill()
