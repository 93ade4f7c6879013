"""The programs of a browser test: the card app's pages, its commands, and the family's server."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import urllib.parse


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Program:
    """A process that prints its address when it listens."""

    def __init__(self, command, pattern, environment=None):
        self.lines = []
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **(environment or {})}
        )
        found = threading.Event()
        self.address = None

        def read():
            for line in self.process.stdout:
                self.lines.append(line.rstrip())
                match = re.search(pattern, line)
                if match and not self.address:
                    self.address = match.group(1)
                    found.set()
            found.set()

        threading.Thread(target=read, daemon=True).start()
        if not found.wait(60) or not self.address:
            self.stop()
            raise RuntimeError("The program did not start: " + "\n".join(self.lines))

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise RuntimeError("The program did not end after SIGINT: " + " ".join(self.process.args))

    def memory(self):
        """The resident memory in MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


class Device:
    """A store with the commands of the app."""

    def __init__(self, cards, path, key=None):
        self.cards = cards
        self.path = path
        self.environment = {"CARDS_KEY": key} if key else {}

    def run(self, *arguments, check=True):
        result = subprocess.run(
            [self.cards, *arguments, "--store", self.path], capture_output=True, text=True,
            env={**os.environ, **self.environment},
        )
        if check and result.returncode != 0:
            raise RuntimeError(f"cards {' '.join(arguments)}: {result.stdout}{result.stderr}")
        return result.stdout

    def web(self, *arguments, port="0", environment=None):
        """Serves the pages. Without a port, the program chooses one itself."""
        chosen = ["--port", port] if port else []
        return Program([self.cards, "web", "--store", self.path, *chosen, *arguments], r"(http://\S+?)/", environment)


class Server:
    """The family's server, whose cards survive a restart."""

    def __init__(self, cards, folder):
        self.cards = cards
        self.file = os.path.join(folder, "server.db")
        self.port = free_port()
        self.program = None
        self.start()

    def start(self):
        self.program = Program(
            [self.cards, "serve", "--port", str(self.port), "--file", self.file, "--user", "ada=Ada",
             "--user", "maria=Maria"],
            r"(http://\S+?)\. ",
        )

    def stop(self):
        self.program.stop()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


class Client:
    """A client without a browser, with a session of its own."""

    def __init__(self, address, name="cards"):
        self.host = urllib.parse.urlsplit(address).netloc
        self.header = f"X-{name.capitalize()}-Token"
        status, headers, body = self.send("GET", "/", accept="text/html", first=True)
        self.cookie = headers["Set-Cookie"].split(";")[0]
        self.token = re.search(rf'{name}-token" content="([^"]+)"', body).group(1)

    def send(self, method, path, value=None, accept="application/json", first=False, headers=None):
        connection = http.client.HTTPConnection(self.host, timeout=30)
        fields = {"Accept": accept, **(headers or {})}
        if not first:
            fields.update({"Cookie": self.cookie, self.header: self.token})
        connection.request(method, path, None if value is None else json.dumps(value), fields)
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, dict(response.getheaders()), body

    def json(self, method, path, value=None):
        status, _, body = self.send(method, path, value)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {body}")
        return json.loads(body) if body else None

    def stream(self, path="/events"):
        """Opens a stream without reading it."""
        host, port = self.host.split(":")
        connection = socket.create_connection((host, int(port)), timeout=30)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\nCookie: {self.cookie}\r\n\r\n".encode())
        return connection


def ean(number):
    """Returns twelve digits with their check digit."""
    digits = f"{number:012d}"
    total = sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits))
    return digits + str(-total % 10)
