"""Times one engine's digests over columns of text, on command: the program's end
of the protocol that bench/rival describes.

usage: main.py MODULE THREADS
"""

import gc
import importlib
import shlex
import sys
import time

import column


def answers(engine):
    """Answers commands until there are no more. The result of a run is kept until
    the next one and freed outside of the time."""
    latest = None
    for line in sys.stdin:
        command, *args = shlex.split(line)
        try:
            if command == "load":
                engine.load(args[0], column.read(args[1]))
                yield "ok"
            elif command == "run":
                _, function, name, threads, rows = args
                if int(threads) != engine.threads:
                    raise ValueError(f"this process has {engine.threads} threads")
                latest = None
                gc.collect()
                start = time.perf_counter_ns()
                result = engine.run(function, name, int(rows))
                took = time.perf_counter_ns() - start
                latest = (function, name, int(rows), result)
                del result
                yield f"ok {took}"
            elif command == "out":
                column.write_digests(args[0], engine.digests(*latest))
                yield "ok"
            else:
                raise ValueError("no such command")
        except Exception as e:
            yield "error " + " ".join(f"{type(e).__name__}: {e}".split())


def main():
    module, threads = sys.argv[1], int(sys.argv[2])
    try:
        engine = importlib.import_module(module).Engine(threads)
    except Exception as e:
        print("skip", module, " ".join(f"{type(e).__name__}: {e}".split()))
        print("ready", module, flush=True)
        return
    print("side", engine.name, *engine.functions)
    print("ready", engine.version, flush=True)
    for answer in answers(engine):
        print(answer, flush=True)


if __name__ == "__main__":
    main()
