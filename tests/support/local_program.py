"""Stands in for the program that runs a local model: the same protocol, a model that counts, no native code.

What it does follows from the name of the model file: "silent" never reports, "broken" reports a failed load, "taken" a
port in use, "dying" ends in the middle of each answer.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SETTINGS: dict[str, Any] = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None: ...

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != f"Bearer {SETTINGS['api_key']}":
            self.send_error(401)
        elif request.get("stream"):
            self.stream()
        else:
            self.answer(request)

    def answer(self, request: dict[str, Any]) -> None:
        if "dying" in SETTINGS["model"]:
            os._exit(9)
        text = json.dumps({"pid": os.getpid(), "settings": {**SETTINGS, "api_key": "…"}, "request": request})
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice], "usage": {"total_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        for number in range(3):
            event = {"choices": [{"index": 0, "delta": {"content": f"{number} "}}]}
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
        if "dying" in SETTINGS["model"]:
            time.sleep(0.2)
            sys.stderr.write("0.00 E cannot count further\n")
            sys.stderr.flush()
            os._exit(9)
        self.wfile.write(b"data: [DONE]\n\n")


def main() -> None:
    SETTINGS.update(json.loads(sys.stdin.readline()))
    name = os.path.basename(SETTINGS["model"])
    if "silent" in name:
        sys.stdin.read()
        return
    if "taken" in name:
        print("E srv start: couldn't bind HTTP server socket", file=sys.stderr)
    if "broken" in name or "taken" in name:
        print("0.00.000.001 E load: the tensors are missing", file=sys.stderr, flush=True)
        print(json.dumps({"error": "RuntimeError", "detail": "Failed"}), flush=True)
        return
    server = ThreadingHTTPServer(("127.0.0.1", SETTINGS["port"]), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}), flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
