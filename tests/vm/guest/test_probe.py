import time, subprocess
from guest import *
class Probe(TestCase):
    def test_speed(self):
        for size in ("320x160","320x180","640x360"):
            for extra in ({}, {"stereo.cost":"census"}, {"engine.threads":"2"}):
                s = {"source.kind":"synthetic","source.size":size,"source.fps":"30"}; s.update(extra)
                i = self.daemon(s)
                time.sleep(4)
                st=i.status(); print(size, extra, st["fps"], st["frames"], {k:v.get("p50") for k,v in st["latency_us"].items()}, flush=True)
                i.close()
