"""Exchanges files with an S3 server, moto's, by addresses that boto3 signs: alone, and in whole syncs of two stores.

Usage: interop-s3.py PEER. PEER is the built SignedFilesTestPeer. Prints one line for each thing that holds, and fails
with the first that does not. It needs moto and boto3 from PyPI.
"""
import hashlib
import logging
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3
from botocore.client import Config
from moto.server import ThreadedMotoServer

PEER = sys.argv[1]
BUCKET = "cards"


def peer(*words):
    done = subprocess.run([PEER, *words], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"interop-s3: peer {words[0]}: {done.returncode} {done.stdout}{done.stderr}")
    return done.stdout.strip()


def holds(condition, what):
    if not condition:
        raise SystemExit(f"interop-s3: not so: {what}")
    print(f"s3: {what}")


# Suppresses the server's log of requests.
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
s3 = boto3.client(
    "s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1", aws_access_key_id="tandem",
    aws_secret_access_key="tandem", config=Config(signature_version="s3v4", s3={"addressing_style": "path"}))
s3.create_bucket(Bucket=BUCKET)


def signed(method, key, **parameters):
    return s3.generate_presigned_url(method, Params={"Bucket": BUCKET, "Key": key, **parameters}, ExpiresIn=300)


class Signer(BaseHTTPRequestHandler):
    """Signs addresses for the peer, as an app's server does: GET /METHOD/KEY."""

    def do_GET(self):
        method, key = self.path[1:].split("/", 1)
        url = signed(method, key).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(url)))
        self.end_headers()
        self.wfile.write(url)

    def log_message(self, *words):
        pass


with tempfile.TemporaryDirectory() as folder:
    source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
    for count in (0, 1, 65537, 8 << 20):
        content = os.urandom(count)
        with open(source, "wb") as file:
            file.write(content)
        key = f"photos/{count}"
        etag = peer("put", signed("put_object", key), source, "none")
        stored = s3.get_object(Bucket=BUCKET, Key=key)
        holds(stored["Body"].read() == content, f"{count} bytes are in the bucket as they were sent")
        holds(stored["ETag"] == f'"{etag}"', f"the ETag of {count} bytes is the server's")
        size = peer("get", signed("get_object", key), target, "0", etag)
        with open(target, "rb") as file:
            holds(file.read() == content and size == str(count), f"{count} bytes come back")
        if count > 1:
            peer("get", signed("get_object", key), target, "1000", etag)
            with open(target, "rb") as file:
                holds(file.read() == content[1000:], f"of {count} bytes those from 1000 on come back")
        holds(peer("delete", signed("delete_object", key)) == "deleted", f"{count} bytes are deleted")
        gone = s3.list_objects_v2(Bucket=BUCKET).get("KeyCount") == 0
        holds(gone, f"{count} bytes are no longer there")
        failure = peer("get", signed("get_object", key), target, "0", "-")
        holds(failure.startswith("failed: The server has no such item"), "what is deleted is not found")

    with open(source, "wb") as file:
        file.write(b"checked")
    holds(peer("put", signed("put_object", "checked"), source, "signed") != "", "a checksum travels along")
    failure = peer("get", signed("get_object", "checked"), target, "0", "another")
    holds("another version of the file" in failure, "another ETag is told apart by If-Match")

    signer = ThreadingHTTPServer(("127.0.0.1", 0), Signer)
    threading.Thread(target=signer.serve_forever, daemon=True).start()
    expected = dict(line.split() for line in peer("sync", f"127.0.0.1:{signer.server_port}", folder).splitlines())
    holds(len(expected) == 2, "two stores synchronize their objects on a server and their files in the bucket")
    stored = {
        entry["Key"]: hashlib.sha256(s3.get_object(Bucket=BUCKET, Key=entry["Key"])["Body"].read()).hexdigest()
        for entry in s3.list_objects_v2(Bucket=BUCKET, Prefix="photos/").get("Contents", [])}
    holds(stored == expected, "the bucket has their files, and neither the replaced nor the deleted one")
    signer.shutdown()

server.stop()
print("interop-s3: all passed")
