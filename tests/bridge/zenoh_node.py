# A node like those of rmw_zenoh, written from the design document of rmw_zenoh alone: it shares no code with the
# bridge. Commands come as lines of JSON on the standard input. Events are printed in the same way.
#   zenoh_node.py router ENDPOINT [USERS]   a router, until its input ends; USERS: file of the users that may connect
#   zenoh_node.py node ENDPOINT DOMAIN      a node
# SPDX-License-Identifier: Apache-2.0
import base64
import json
import sys
import threading

import zenoh
from zenoh import ext

QOS_DEFAULT = {"reliability": 1, "durability": 2, "history": 1, "depth": 42}
out = threading.Lock()


def say(**what):
    with out:
        print(json.dumps(what), flush=True)


def config(mode, endpoint):
    c = zenoh.Config()
    c.insert_json5("mode", json.dumps(mode))
    c.insert_json5("scouting/multicast/enabled", "false")
    c.insert_json5("timestamping/enabled", "true")
    # a node that is killed would leave its file in /dev/shm
    c.insert_json5("transport/shared_memory/enabled", "false")
    if mode == "router":
        c.insert_json5("listen/endpoints", json.dumps([endpoint]))
    else:
        c.insert_json5("connect/endpoints", json.dumps([endpoint]))
        c.insert_json5("listen/endpoints", '["tcp/127.0.0.1:0"]')
    return c


def number(text, default):
    return int(text) if text else default


def qos(text):
    reliability, durability, history, deadline, lifespan, liveliness = text.split(":")
    kind, depth = history.split(",")
    if deadline != "," or lifespan != "," or liveliness != ",,":
        raise ValueError(text)
    return {"reliability": number(reliability, QOS_DEFAULT["reliability"]),
            "durability": number(durability, QOS_DEFAULT["durability"]),
            "history": number(kind, QOS_DEFAULT["history"]), "depth": number(depth, QOS_DEFAULT["depth"])}


def entity(token):
    space, domain, session, node, number_, kind, enclave, namespace, name, *topic = token.split("/")
    found = {"token": token, "space": space, "domain": int(domain), "session": session, "node": int(node),
             "entity": int(number_), "kind": kind, "enclave": enclave.replace("%", "/"),
             "namespace": namespace.replace("%", "/"), "name": name}
    if kind != "NN":
        found.update(topic=topic[0].replace("%", "/"), type=topic[1], hash=topic[2], qos=qos(topic[3]))
    return found


def attachment(data):
    if len(data) != 33 or data[16] != 16:
        raise ValueError("an attachment of %d bytes" % len(data))
    return {"number": int.from_bytes(data[:8], "little", signed=True),
            "sent_ns": int.from_bytes(data[8:16], "little", signed=True), "gid": data[17:].hex()}


def on_token(sample):
    if sample.kind == zenoh.SampleKind.PUT:
        say(event="token", **entity(str(sample.key_expr)))
    else:
        say(event="gone", token=str(sample.key_expr))


def on_message(sample):
    say(event="message", key=str(sample.key_expr), cdr=base64.b64encode(bytes(sample.payload)).decode(),
        **attachment(bytes(sample.attachment)))


def publish(session, domain, kept, command, count):
    """Publishes a message, with the token of a publisher since the first one."""
    name = command["topic"]
    if name not in kept:
        kept[name] = [
            session.declare_publisher("%s/%s/%s/%s" % (domain, name[1:], command["type"], command["hash"])),
            session.liveliness().declare_token("@ros2_lv/%s/%s/0/%d/MP/%%/%%/reader/%s/%s/%s/::,5:,:,:,," % (
                domain, session.info.zid(), count, name.replace("/", "%"), command["type"], command["hash"]))]
    kept[name][0].put(base64.b64decode(command["cdr"]), attachment=bytes(16) + b"\x10" + bytes(16))


def node(endpoint, domain):
    with zenoh.open(config("peer", endpoint)) as session:
        live = session.liveliness()
        zid = str(session.info.zid())
        kept = {"node": [live.declare_token("@ros2_lv/%s/%s/0/0/NN/%%/%%/reader" % (domain, zid))],
                "graph": [live.declare_subscriber("@ros2_lv/%s/**" % domain, on_token, history=True)]}
        say(event="ready")
        for count, line in enumerate(sys.stdin, 1):
            command = json.loads(line)
            name = command["topic"]
            if command["do"] == "unsubscribe":
                for thing in kept.pop(name):
                    thing.undeclare()
                continue
            if command["do"] == "publish":
                publish(session, domain, kept, command, count)
                continue
            key = "%s/%s/%s/%s" % (domain, name[1:], command["type"], command["hash"])
            if command.get("late"):  # transient local
                reader = ext.declare_advanced_subscriber(
                    session, key, on_message, history=ext.HistoryConfig(detect_late_publishers=True, max_samples=1),
                    subscriber_detection=True)
            else:
                reader = session.declare_subscriber(key, on_message)
            token = live.declare_token("@ros2_lv/%s/%s/0/%d/MS/%%/%%/reader/%s/%s/%s/%s" % (
                domain, zid, count, name.replace("/", "%"), command["type"], command["hash"], command["qos"]))
            kept[name] = [token, reader]
        kept.clear()


if __name__ == "__main__":
    if sys.argv[1] == "router":
        c = config("router", sys.argv[2])
        if len(sys.argv) > 3:
            c.insert_json5("transport/auth/usrpwd", json.dumps({
                "user": "router", "password": "own", "dictionary_file": sys.argv[3]}))
        with zenoh.open(c):
            say(event="ready")
            sys.stdin.read()
    else:
        node(*sys.argv[2:])
