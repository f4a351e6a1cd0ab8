# A writer of pairs that speaks the protocol of stixel_pairs.h itself, so that it can also break it. As a program it
# writes pairs until its end: pair_writer.py PATH WIDTH HEIGHT PAIRS_PER_SECOND.
#
# SPDX-License-Identifier: Apache-2.0
import array
import fcntl
import mmap
import os
import random
import socket
import struct
import sys
import time

MAGIC, ABI = 0x50585453, 1
HELLO, BUFFER, PAIR, WELCOME, RETURNED, REFUSED = range(1, 7)
TAKEN, OVERLOAD, BAD = range(3)
GREY8 = 1
RAW, SIMULATED = 2, 4
ADD_SEALS, SHRINK = 1033, 2
ONES = (1, 0, 0, 0, 1, 0, 0, 0, 1)


def raw_camera(lens=0, k=(0, 0, 0, 0), distortion=(), rotation=ONES):
    """Returns the bytes of a struct stixel_raw_camera."""
    return struct.pack("<2I4d8d9d", lens, 0, *k, *(tuple(distortion) + (0,) * 8)[:8], *rotation)


class Writer:
    def __init__(self, path, width, height, buffers=6, pixel=GREY8, bytes_of=1, flags=0, fps=0, camera=(0,) * 5,
                 rectified=(0, 0), raw=raw_camera() * 2, name=b"test", connect=True):
        self.size = width, height
        self.right = width * height * bytes_of
        self.numbers = 0
        self.returned = []  # (number, fate)
        self.refused = None
        self.buffers = []
        self.hello = struct.pack("<2I2H3I8I6d2I", MAGIC, HELLO, ABI, 0, 528, buffers, 0, width, height, pixel,
                                 width * bytes_of, 0, flags, 0, 0, fps, *camera, *rectified) + raw + struct.pack(
                                     "64s", name)
        for _ in range(buffers):
            fd = os.memfd_create("pairs", os.MFD_ALLOW_SEALING)
            os.ftruncate(fd, 2 * self.right)
            fcntl.fcntl(fd, ADD_SEALS, SHRINK)
            self.buffers.append((fd, mmap.mmap(fd, 2 * self.right)))
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(20)
        try:
            self.socket.connect(path)
        except OSError:
            self.close()
            raise
        if connect:
            self.introduce()

    def introduce(self):
        self.socket.send(self.hello)
        for i, (fd, _) in enumerate(self.buffers):
            self.socket.sendmsg([struct.pack("<4IQ", MAGIC, BUFFER, i, 0, 2 * self.right)],
                                [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])

    def take(self):
        """Waits for an answer. Returns its kind; None: the connection has ended."""
        try:
            data = self.socket.recv(1024)
        except ConnectionResetError:
            return None
        if not data:
            return None
        _, kind, number, fate, _ = struct.unpack_from("<2IQ2I", data)
        if kind == RETURNED:
            self.returned.append((number, fate))
        elif kind == REFUSED:
            self.refused = data[24:].decode()
        return kind

    def welcome(self):
        kind = self.take()
        assert kind == WELCOME, self.refused or kind
        return self

    def queue(self, left, right, left_ns=0, right_ns=0):
        """Gives a pair in the next buffer, whether or not it came back. Returns its number."""
        self.numbers += 1
        i = self.numbers % len(self.buffers)
        memory = self.buffers[i][1]
        memory[:len(left)] = left
        memory[self.right:self.right + len(right)] = right
        self.socket.send(struct.pack("<2IQ2I2Q2q", MAGIC, PAIR, self.numbers, i, i, 0, self.right, left_ns, right_ns))
        return self.numbers

    def wait(self, number):
        """Waits until a pair has come back. Returns its fate."""
        while number not in dict(self.returned[-64:]):
            if self.take() != RETURNED:
                raise ConnectionError(self.refused or "the daemon has closed the connection")
        return dict(self.returned)[number]

    def close(self):
        self.socket.close()
        for fd, memory in self.buffers:
            memory.close()
            os.close(fd)
        self.buffers = []


def texture(width, height, seed, shift=8):
    """Returns both images of one texture, shifted by `shift` px."""
    noise = random.Random(seed)
    rows = [bytes(noise.getrandbits(8) for _ in range(width + shift)) for _ in range(height)]
    return b"".join(r[:width] for r in rows), b"".join(r[shift:] for r in rows)


def main():
    path, width, height, fps = sys.argv[1], *map(int, sys.argv[2:5])
    images = [texture(width, height, seed) for seed in range(4)]
    w = Writer(path, width, height, fps=fps, name=b"pair_writer").welcome()
    print("welcome", flush=True)
    while True:
        now = time.monotonic_ns()
        w.wait(w.queue(*images[w.numbers % 4], now, now))
        time.sleep(1 / fps)


if __name__ == "__main__":
    main()
