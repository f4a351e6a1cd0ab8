# A client of foxglove.sdk.v1 in a separate process, independent of stixel-bridge: it implements the public description
# of the protocol. Commands and answers are lines of JSON. Messages are written as base64.
#
# The client has one thread. Two threads must not use one TLS connection of CPython 3.11 at the same time: if one reads
# what the server sends after the handshake while the other one writes, OpenSSL fails, or the connection hangs.
# websockets.sync has a thread that reads.
# SPDX-License-Identifier: Apache-2.0
import asyncio
import base64
import json
import socket
import ssl
import struct
import sys

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

MESSAGE_DATA = 1  # binary messages: opcode, subscription, ns, payload
HEAD = struct.Struct("<BIQ")
loop = asyncio.new_event_loop()  # it runs only during a command, and so the client reads only then


def run(what, seconds=None):
    """Waits for the result of a coroutine. Raises TimeoutError after `seconds`."""
    try:
        return loop.run_until_complete(asyncio.wait_for(what, seconds))
    except asyncio.TimeoutError:  # another class before Python 3.11
        raise TimeoutError("no answer in %g s" % seconds) from None


class Client:
    def __init__(self):
        self.socket = None
        self.channels = {}  # channels by topic
        self.topics = {}  # topics by subscription
        self.texts = []  # texts that came while the client waited for another message

    def connect(self, url, subprotocol="foxglove.sdk.v1", ca=None, channels=0):
        """Connects. Returns the server's information and its channels, after at least `channels` of them have come."""
        options = {"ssl": ssl.create_default_context(cafile=ca)} if ca else {}

        async def opened():
            return await connect(url, subprotocols=[subprotocol], max_size=None, max_queue=4, open_timeout=None,
                                 ping_interval=None, compression=None, **options)
        self.socket = run(opened(), 60)
        info = json.loads(self.receive(10))
        while len(self.channels) < channels:
            told = json.loads(self.receive(10))
            assert told["op"] == "advertise", told
            self.channels.update({c["topic"]: c for c in told["channels"]})
        return {"info": info, "subprotocol": self.socket.subprotocol, "channels": self.channels}

    def receive(self, seconds):
        return run(self.socket.recv(), seconds)

    def subscribe(self, topics):
        wanted = []
        for topic in topics:
            number = len(self.topics) + 1
            self.topics[number] = topic
            wanted.append({"id": number, "channelId": self.channels[topic]["id"]})
        return self.send({"op": "subscribe", "subscriptions": wanted})

    def unsubscribe(self, topics):
        return self.send({"op": "unsubscribe",
                          "subscriptionIds": [n for n, topic in self.topics.items() if topic in topics]})

    def send(self, what):
        run(self.socket.send(what if isinstance(what, str) else json.dumps(what)))
        return True

    def take(self, count, seconds=10, sizes=False):
        """Returns [topic, time, data] of `count` messages, or of fewer if none comes for some time. sizes: only the
        lengths of data."""
        found = []
        try:
            while len(found) < count:
                data = self.receive(seconds)
                if isinstance(data, str):
                    self.texts.append(json.loads(data))
                    continue
                opcode, subscription, ns = HEAD.unpack_from(data)
                assert opcode == MESSAGE_DATA, opcode
                payload = data[HEAD.size:]
                found.append([self.topics[subscription], ns,
                              len(payload) if sizes else base64.b64encode(payload).decode()])
        except TimeoutError:
            pass
        return found

    def text(self, op, seconds=30):
        """Returns the next text message of this kind."""
        while True:
            for i, told in enumerate(self.texts):
                if told["op"] == op:
                    return self.texts.pop(i)
            data = self.receive(seconds)
            if isinstance(data, str):
                self.texts.append(json.loads(data))

    def churn(self, url, times, topic):
        """Connects and disconnects repeatedly, every other time without a closing message."""
        for i in range(times):
            c = Client()
            c.connect(url, channels=1)
            c.subscribe([topic])
            if not i % 2:
                c.socket.transport.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
            run(c.socket.close())
        return True


def main():
    client = Client()
    for line in sys.stdin:
        name, arguments = json.loads(line)
        try:
            answer = getattr(client, name)(**arguments)
        except (OSError, WebSocketException) as e:  # TimeoutError is an OSError
            answer = {"error": "%s: %s" % (type(e).__name__, e)}
        print(json.dumps(answer), flush=True)


main()
