"""nginx in front of several Kinto processes on loopback, for the long form of the exchange with devices."""
import os
import shutil
import signal

from servers import Failure, free_port

CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx-errors.log;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/nginx-bodies;
    proxy_temp_path {folder}/nginx-proxy;
    fastcgi_temp_path {folder}/nginx-unused;
    uwsgi_temp_path {folder}/nginx-unused;
    scgi_temp_path {folder}/nginx-unused;
    client_max_body_size 32m;
    upstream kinto {{
        {servers}
        keepalive 16;
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://kinto;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
            proxy_connect_timeout 2s;
            proxy_read_timeout 60s;
        }}
    }}
}}
"""


def start(servers):
    """Starts nginx in the folder of the servers. Returns its port."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        raise Failure("nginx is not installed. On Debian: apt-get install nginx-light")
    port, path = free_port(), os.path.join(servers.folder, "nginx.conf")
    lines = "\n        ".join(f"server 127.0.0.1:{kinto.port} max_fails=1 fail_timeout=1s;" for kinto in servers.kintos)
    with open(path, "w") as file:
        file.write(CONFIGURATION.format(folder=servers.folder, port=port, servers=lines))
    servers.start_process(
        "nginx", [program, "-p", servers.folder, "-c", path], stop_signal=signal.SIGTERM, death_signal=signal.SIGTERM)
    return port
