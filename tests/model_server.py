"""A real OpenAI-compatible server on this machine, which answers as it is told, badly if so told."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def completion(content, finish="stop", tokens=100):
    """The body of a whole chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}}
    choice["finish_reason"] = finish
    usage = {"total_tokens": tokens}
    return json.dumps({"choices": [choice], "usage": usage}, ensure_ascii=False).encode()


class Model:
    """`say` maps what was asked (system, user) to a reply, or to a trick on the handler."""

    def __init__(self, say):
        self.say, self.asked, self.headers = say, [], []
        self.busy = self.busiest = 0
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def _handler(model):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                with model.lock:
                    model.busy += 1
                    model.busiest = max(model.busiest, model.busy)
                try:
                    self.answer()
                except OSError:
                    self.close_connection = True
                finally:
                    with model.lock:
                        model.busy -= 1

            def answer(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                user = body["messages"][1]["content"]
                with model.lock:
                    model.asked.append(user)
                    model.headers.append((self.path, dict(self.headers), body))
                said = model.say(user)
                if callable(said):
                    said(self)
                else:
                    reply(self, 200, completion(said))

        return Handler


def reply(handler, status, body=b"{}", **headers):
    """Send a whole answer."""
    handler.send_response(status)
    for name, value in {"Content-Length": len(body), **headers}.items():
        handler.send_header(name.replace("_", "-"), str(value))
    handler.end_headers()
    handler.wfile.write(body)


def refuses(status, **headers):
    """A trick: this status, whatever was asked."""
    return lambda handler: reply(handler, status, **headers)


def sends(body):
    """A trick: these bytes as the body of a 200."""
    return lambda handler: reply(handler, 200, body)


def cut(handler):
    """A trick: half of a body, then the end of the connection."""
    body = completion('{"kind": "fact"')
    handler.send_response(200)
    handler.send_header("Content-Length", str(2 * len(body)))
    handler.end_headers()
    handler.wfile.write(body)
    handler.wfile.flush()
    handler.close_connection = True


def hangs(handler):
    """A trick: a byte now and then, without end."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(100):
        handler.wfile.write(b"X: y\r\n")
        time.sleep(0.05)


def endless(handler):
    """A trick: a body without end."""
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" " * 65_536)


def ops(said):
    """Return the changes of the plan that a command said it made."""
    with open(f"{said['path']}/ops.jsonl", encoding="utf-8") as lines:
        return [json.loads(one) for one in lines]
