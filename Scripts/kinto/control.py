"""Lets another program cause faults of a proxy, by requests on loopback."""
import http.server
import threading


class Control:
    """Listens on a port of its own. `POST /offline`, `/online` and `/lose` call the methods of the proxy.

    The response is sent when the fault is in effect.
    """

    def __init__(self, proxy):
        actions = {"/offline": proxy.go_offline, "/online": proxy.go_online, "/lose": proxy.lose_next_insert}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                action = actions.get(self.path)
                if action:
                    action()
                self.send_response(200 if action else 404)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self):
        threading.Thread(target=self._server.serve_forever, name="control", daemon=True).start()
        return self

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
