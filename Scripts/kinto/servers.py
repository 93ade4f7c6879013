"""Starts and stops PostgreSQL and Kinto on loopback, for `make kinto`, `make interop` and `make bench`.

Everything is in one folder: the database, its socket, the files, the configuration and the logs. The processes end with
the process that started them, also if it is killed.
"""
import base64
import ctypes
import glob
import http.client
import json
import os
import pwd
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
INI = os.path.join(HERE, "kinto.ini")
KINTO = os.path.join(os.path.dirname(sys.executable), "kinto")


class Failure(Exception):
    """A sentence for the user."""


def wait_for(what, condition, seconds):
    """Polls until the condition returns a true value, and returns it. Fails after a time limit."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise Failure(f"waited {seconds} s in vain for {what}")
        time.sleep(0.05)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def lasting_port():
    """Returns a free port outside the range from which the system chooses ports itself."""
    for _ in range(100):
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise Failure("no port from 20,000 to 32,000 is free")


# MARK: Processes

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def die_with_parent(number=signal.SIGKILL):
    """Lets Linux send a signal to this process when the thread that started it ends: call it before `exec`."""
    _libc.prctl(_PR_SET_PDEATHSIG, int(number))


class Process:
    """A process with a session of its own, so that Ctrl-C does not reach it, and with a log.

    NB: Start it from the main thread. Linux sends the death signal if the thread that started the process ends.
    """

    def __init__(
            self, name, command, log, stop_signal=signal.SIGTERM, death_signal=signal.SIGKILL, env=None, user=None):
        self.name, self.log, self.stop_signal = name, log, stop_signal
        credentials = {}
        if user is not None:
            entry = pwd.getpwnam(user)
            credentials = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        with open(log, "ab") as output:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, cwd="/",
                env={**os.environ, **(env or {})},
                preexec_fn=lambda: die_with_parent(death_signal), **credentials)

    @property
    def is_running(self):
        return self.process.poll() is None

    def last_words(self):
        with open(self.log, "rb") as file:
            return file.read()[-3000:].decode(errors="replace").strip()

    def check(self):
        if not self.is_running:
            raise Failure(f"{self.name} ended with {self.process.returncode}. Its log says:\n{self.last_words()}")

    def kill(self):
        """Kills the process with -9 and waits for its end."""
        if self.is_running:
            self.process.kill()
        self.process.wait()

    def stop(self, seconds=20):
        """Asks the process to end. Kills it after a time limit."""
        if not self.is_running:
            return
        self.process.send_signal(self.stop_signal)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            print(f"{self.name} did not end within {seconds} s and is killed", file=sys.stderr)
            self.kill()


# MARK: PostgreSQL

class PostgreSQL:
    """A database server of its own, reachable only by a socket in its folder."""

    def __init__(self, folder, settings=()):
        self.folder, self.settings, self.process = folder, list(settings), None
        self.data, self.socket = os.path.join(folder, "postgresql"), os.path.join(folder, "socket")
        # PostgreSQL refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else None

    @staticmethod
    def program(name):
        """The newest installed version of a program. Debian's are not on the PATH."""
        found = glob.glob(f"/usr/lib/postgresql/*/bin/{name}")
        path = max(found, key=lambda path: int(path.split("/")[4])) if found else shutil.which(name)
        if path is None:
            raise Failure(
                "PostgreSQL is not installed: there is no `initdb`. On Debian: apt-get install postgresql")
        return path

    def _as_user(self):
        entry = pwd.getpwnam(self.user) if self.user else None
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []} if entry else {}

    def initialize(self):
        """Creates the database files, if they are not there."""
        if os.path.exists(os.path.join(self.data, "PG_VERSION")):
            return
        for folder in (self.data, self.socket):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if self.user:
                shutil.chown(folder, self.user, self.user)
        done = subprocess.run(
            [self.program("initdb"), "--pgdata", self.data, "--username", "kinto", "--auth", "trust", "--encoding",
             "UTF8", "--locale", "C.UTF-8", "--no-sync"], capture_output=True, text=True, cwd="/", **self._as_user())
        if done.returncode != 0:
            raise Failure(f"initdb failed:\n{done.stdout}{done.stderr}")

    def start(self, seconds=60):
        command = [self.program("postgres"), "-D", self.data, "-k", self.socket, "-h", ""]
        for setting in self.settings:
            command += ["-c", setting]
        # SIGINT ends all connections and stops; SIGQUIT stops at once.
        self.process = Process(
            "PostgreSQL", command, os.path.join(self.folder, "postgresql.log"), stop_signal=signal.SIGINT,
            death_signal=signal.SIGQUIT, user=self.user)
        wait_for("PostgreSQL to accept connections", self._is_ready, seconds)

    def _is_ready(self):
        self.process.check()
        done = subprocess.run(
            [self.program("pg_isready"), "--quiet", "--host", self.socket], capture_output=True, cwd="/")
        return done.returncode == 0

    def sql(self, statement, database="kinto"):
        """Returns the rows of a statement, their columns separated by tabs."""
        done = subprocess.run(
            [self.program("psql"), "--host", self.socket, "--username", "kinto", "--dbname", database, "--no-psqlrc",
             "--tuples-only", "--no-align", "--field-separator", "\t", "--set", "ON_ERROR_STOP=1", "--command",
             statement], capture_output=True, text=True, cwd="/")
        if done.returncode != 0:
            raise Failure(f"psql: {done.stderr}")
        return done.stdout.splitlines()

    def create_database(self, name="kinto"):
        if not self.sql(f"SELECT 1 FROM pg_database WHERE datname = '{name}'", database="postgres"):
            self.sql(f"CREATE DATABASE {name} TEMPLATE template0", database="postgres")

    def dump(self, path):
        self._run("pg_dump", "--format", "custom", "--file", path, "kinto")

    def restore(self, path):
        """Replaces the contents of the database by those of a dump."""
        self._run("pg_restore", "--clean", "--if-exists", "--single-transaction", "--dbname", "kinto", path)

    def _run(self, program, *words):
        command = [self.program(program), "--host", self.socket, "--username", "kinto", *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=120)
        if done.returncode != 0:
            raise Failure(f"{program}: {done.stderr}")

    def stop(self):
        if self.process:
            self.process.stop()


# MARK: Kinto

class Kinto:
    """A Kinto process."""

    def __init__(self, folder, port=None, name="kinto", settings=None, ini="kinto.ini"):
        """
        - settings: Settings that differ from those of the file, as Kinto's environment variables.
        """
        self.folder, self.port, self.name = folder, port or free_port(), name
        self.ini, self.settings, self.process = os.path.join(folder, ini), dict(settings or {}), None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    def _environment(self):
        with open(os.path.join(self.folder, "secret")) as file:
            secret = file.read()
        # NB: kinto-attachment imports pkg_resources, which warns at each start.
        return {
            "KINTO_USERID_HMAC_SECRET": secret, "KINTO_ATTACHMENT_BASE_URL": f"{self.url}/files/",
            "KINTO_INI": self.ini, "PYTHONPATH": HERE, "PYTHONWARNINGS": "ignore", **self.settings}

    def start(self, seconds=60):
        self.begin()
        self.wait_until_ready(seconds)

    def begin(self):
        """Starts the process without waiting until it responds."""
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", self.port))
            except OSError:
                raise Failure(f"port {self.port} of 127.0.0.1 is in use; PORT=n chooses another one") from None
        command = [KINTO, "start", "--ini", self.ini, "--port", str(self.port)]
        self.process = Process(
            self.name, command, os.path.join(self.folder, f"{self.name}.log"), env=self._environment())

    def wait_until_ready(self, seconds=60):
        wait_for(f"{self.name} to respond on port {self.port}", self._is_ready, seconds)

    def _is_ready(self):
        self.process.check()
        try:
            return Client(self.port).get("/")[0] == 200
        except OSError:
            return False

    def migrate(self):
        self._command("migrate")

    def create_user(self, name, password):
        # A password may begin with a hyphen.
        self._command("create-user", f"--username={name}", f"--password={password}")

    def _command(self, *words):
        done = subprocess.run(
            [KINTO, words[0], "--ini", self.ini, *words[1:]], capture_output=True, text=True,
            env={**os.environ, **self._environment()}, timeout=120)
        if done.returncode != 0:
            raise Failure(f"kinto {words[0]}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

    def kill(self):
        self.process.kill()

    def stop(self):
        if self.process:
            self.process.stop()


class Client:
    """Sends requests over one connection, without retries: the tests want to see each response."""

    def __init__(self, port, user=None, timeout=30):
        self.port, self.timeout, self.connection = port, timeout, None
        self.fields = {"Content-Type": "application/json"}
        if user:
            self.fields["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()

    def request(self, method, path, body=None, fields=None):
        """Returns the status, the header fields, and the decoded body. `body` is a JSON value, or its bytes."""
        status, fields, content = self.exchange(method, path, body, fields)
        try:
            decoded = json.loads(content) if content else None
        except ValueError:
            decoded = content.decode(errors="replace")
        return status, fields, decoded

    def exchange(self, method, path, body=None, fields=None):
        """Returns the status, the header fields, and the bytes of the body."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        try:
            self.connection.request(
                method, path if path.startswith("/v1") else "/v1" + path, body, {**self.fields, **(fields or {})})
            response = self.connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise error if isinstance(error, OSError) else OSError(repr(error))
        if response.will_close:
            self.close()
        return response.status, response.headers, content

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def expect(self, statuses, method, path, body=None, fields=None):
        """Sends a request and fails unless the response has one of the statuses. Returns the decoded body."""
        status, _, content = self.request(method, path, body, fields)
        if status not in statuses:
            raise Failure(f"{method} {path}: {status} {content}")
        return content

    def records(self, collection, deleted=False):
        """Returns all records of a collection by ID, from all pages."""
        records, path = {}, f"{collection}/records?_sort=last_modified" + ("&_since=0" if deleted else "")
        while path:
            status, fields, content = self.get(path)
            if status != 200:
                raise Failure(f"GET {path}: {status} {content}")
            records.update((record["id"], record) for record in content["data"])
            path = fields.get("Next-Page")
            path = path[path.index("/v1"):] if path else None
        return records

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


# MARK: A folder with both

class Servers:
    """PostgreSQL and any number of Kinto processes on it, in one folder."""

    def __init__(self, folder=None, prefix="tandem-kinto-", settings=()):
        """
        - folder: A folder that is kept. Without one, a temporary folder is created, and removed by ``stop()``.
        - settings: Settings of PostgreSQL.
        """
        self.is_temporary = folder is None
        self.folder = tempfile.mkdtemp(prefix=prefix) if folder is None else os.path.abspath(folder)
        if len(self.folder) > 80:
            raise Failure(f"{self.folder}: the path is too long for the socket of PostgreSQL")
        os.makedirs(os.path.join(self.folder, "files"), exist_ok=True)
        # The user of PostgreSQL must reach its own folder, and read nothing beside it.
        os.chmod(self.folder, 0o711)
        self.postgresql, self.kintos, self.others = PostgreSQL(self.folder, settings), [], []
        secret = os.path.join(self.folder, "secret")
        if not os.path.exists(secret):
            with open(os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.write(secrets.token_hex(32))
        shutil.copy(INI, self.folder)

    def start_postgresql(self):
        self.postgresql.initialize()
        self.postgresql.start()
        self.postgresql.create_database()

    def start_kinto(self, port=None, **options):
        kinto = Kinto(self.folder, port, f"kinto-{len(self.kintos) + 1}", **options)
        self.kintos.append(kinto)
        kinto.start()
        return kinto

    def start_kintos(self, count, **options):
        """Starts several processes at once, because the start of one takes seconds."""
        for number in range(count):
            self.kintos.append(Kinto(self.folder, name=f"kinto-{number + 1}", **options))
        self.restart_kintos()

    def restart_kintos(self):
        for kinto in self.kintos:
            kinto.stop()
        for kinto in self.kintos:
            kinto.begin()
        for kinto in self.kintos:
            kinto.wait_until_ready()

    def start_process(self, name, command, **options):
        """Starts a process that ``stop()`` ends too."""
        process = Process(name, command, os.path.join(self.folder, f"{name}.log"), **options)
        self.others.append(process)
        return process

    def stop(self):
        """Ends all processes, the clients first, and removes a temporary folder."""
        for process in [*self.others, *self.kintos, self.postgresql]:
            process.stop()
        if self.is_temporary:
            shutil.rmtree(self.folder, ignore_errors=True)
