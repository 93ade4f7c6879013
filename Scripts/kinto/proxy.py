"""An HTTP proxy on loopback in front of several servers. It counts requests and bytes, and loses responses."""
import asyncio
import collections
import random
import threading


class Proxy:
    """Forwards each request to the next server that accepts a connection, as nginx does. Runs on a thread of its own.

    - faults: The probability of each fault by its name:
        - "refuse": the connection ends before the request is forwarded
        - "lose": the server handles the request, and its response is dropped
        - "cut": the response ends in its middle
    - port: The port to listen on. Default: a free one, which another program may get while the proxy is offline.
    """

    def __init__(self, ports, seed=1, port=0):
        self.ports, self.faults, self.seed, self.port = list(ports), {}, seed, port
        self.counts = collections.Counter()
        self._random, self._next = random.Random(seed), 0
        self._loop, self._ready = asyncio.new_event_loop(), threading.Event()
        self._failure, self._server, self._writers, self._loses_insert = None, None, set(), False
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    def start(self):
        self._thread.start()
        if not self._ready.wait(10) or self._failure:
            raise OSError(f"the proxy did not start: {self._failure}")
        return self

    def stop(self):
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5)

    def reset(self):
        """Starts the counts again and returns the old ones."""
        old, self.counts = self.counts, collections.Counter()
        return old

    def _run(self):
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._listen())
        except OSError as error:
            self._failure = error
        self._ready.set()
        if self._failure is None:
            self._loop.run_forever()

    # MARK: Faults by request

    def go_offline(self):
        """Refuses connections, and ends the existing ones."""
        self._do(self._close)

    def go_online(self):
        """Listens on the same port again."""
        self._do(self._listen)

    def lose_next_insert(self):
        """Loses the response to the next request, or batch, that creates a record with its own ID."""
        self._loses_insert = True

    def _do(self, action):
        asyncio.run_coroutine_threadsafe(action(), self._loop).result(10)

    async def _listen(self):
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, limit=1 << 20)
            self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self):
        server, self._server = self._server, None
        if server:
            server.close()
        for writer in self._writers:
            writer.transport.abort()

    @staticmethod
    def _inserts(request):
        return request.split(b" ", 1)[0] in (b"PUT", b"POST") and b"if-none-match" in request.lower()

    def _fault(self, request):
        if self._loses_insert and self._inserts(request):
            self._loses_insert = False
            return "lose"
        for name, probability in self.faults.items():
            if self._random.random() < probability:
                self.counts[name] += 1
                return name
        return None

    async def _serve(self, reader, writer):
        upstream = None
        self._writers.add(writer)
        try:
            while True:
                request = await self._message(reader)
                if request is None:
                    return
                fault = self._fault(request)
                if fault == "refuse":
                    return
                response, upstream = await self._forward(request, upstream)
                if response is None or fault == "lose":
                    return
                self.counts["requests"] += 1
                self.counts["request bytes"] += len(request)
                self.counts[f"status {response.split(b' ', 2)[1].decode()}"] += 1
                if fault == "cut":
                    writer.write(response[:max(1, len(response) // 2)])
                    await writer.drain()
                    return
                self.counts["response bytes"] += len(response)
                writer.write(response)
                await writer.drain()
                if b"\r\nconnection: close" in response[:4096].lower():
                    return
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return
        finally:
            self._writers.discard(writer)
            for stream in (writer, upstream[1] if upstream else None):
                if stream:
                    stream.close()

    async def _forward(self, request, upstream):
        """Returns the whole response and the connection; no response if the server ended the connection before."""
        if upstream is None or upstream[0].at_eof():
            upstream = await self._connect()
        if upstream is None:
            self.counts["no server"] += 1
            body = b'{"code":502,"errno":201,"error":"Bad Gateway","message":"no server"}'
            head = f"HTTP/1.1 502 Bad Gateway\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            return head.encode() + body, None
        upstream[1].write(request)
        await upstream[1].drain()
        method = request.split(b" ", 1)[0]
        return await self._message(upstream[0], method), upstream

    async def _connect(self):
        for _ in self.ports:
            port = self.ports[self._next % len(self.ports)]
            self._next += 1
            try:
                return await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
            except OSError:
                continue
        return None

    @staticmethod
    async def _message(reader, method=None):
        """Returns a whole request, or the whole response to a method; None at the end of the connection."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        lines = head.decode("latin-1").split("\r\n")
        fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            fields[name.strip().lower()] = value.strip()
        if method is not None:
            status = lines[0].split(" ")[1]
            if method == b"HEAD" or status in ("204", "304"):
                return head
        if fields.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while True:
                size = await reader.readuntil(b"\r\n")
                chunk = await reader.readexactly(int(size.split(b";")[0], 16) + 2)
                body += size + chunk
                if chunk == b"\r\n":
                    return head + body
        if "content-length" in fields:
            return head + await reader.readexactly(int(fields["content-length"]))
        return head if method is None else head + await reader.read()
