"""The package with pyarrow: layouts, errors, capsules, keys, policies."""

import ctypes
import datetime
import gc
import hashlib
import hmac
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import unittest

import arrowmask
import pyarrow as pa

ROOT = pathlib.Path(__file__).resolve().parents[2]
VALUES = ["", "abc", None, "Zoë Ωmega", "a value of more than twelve bytes", None, "x" * 1000]


def sha256(v):
    return None if v is None else hashlib.sha256(v if isinstance(v, bytes) else v.encode()).hexdigest()


WANT = [sha256(v) for v in VALUES]


class OnlyArray:
    """A column of a library that nobody knows."""

    def __init__(self, array):
        self.array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self.array.__arrow_c_array__(requested_schema)


class OnlyStream:
    def __init__(self, x):
        self.x = x

    def __arrow_c_stream__(self, requested_schema=None):
        return self.x.__arrow_c_stream__(requested_schema)


class Columns(unittest.TestCase):
    def layouts(self):
        raw = [None if v is None else v.encode() for v in VALUES]
        yield pa.array(VALUES), pa.string()
        yield pa.array(VALUES, pa.large_string()), pa.large_string()
        yield pa.array(VALUES, pa.string_view()), pa.string_view()
        yield pa.array(raw), pa.string()
        yield pa.array(raw, pa.large_binary()), pa.large_string()
        yield pa.array(raw, pa.binary_view()), pa.string_view()
        yield pa.array(VALUES).dictionary_encode(), pa.dictionary(pa.int32(), pa.string())

    def test_layouts(self):
        for array, dtype in self.layouts():
            for cut in (array, array.slice(1), array.slice(2, 3), array.slice(0, 0)):
                with self.subTest(array.type, offset=cut.offset, rows=len(cut)):
                    got = arrowmask.sha2(cut, 256)
                    got.validate(full=True)
                    self.assertEqual(got.type, dtype)
                    self.assertEqual(got.to_pylist(), [sha256(v) for v in cut.to_pylist()])
                    other = arrowmask.sha2(OnlyArray(cut), 256)
                    self.assertEqual(len(other), len(cut))
                    for _ in range(2):  # a result can be read more than once
                        self.assertTrue(pa.array(other).equals(got))

    def test_run_end_encoded(self):
        array = pa.RunEndEncodedArray.from_arrays([2, 5, 6], ["a", None, "b"])
        got = arrowmask.sha2(array)
        self.assertEqual(got.to_pylist(), [sha256(v) for v in array.to_pylist()])

    def test_fixed_width(self):
        got = arrowmask.digest(pa.array([b"abcd", None], pa.binary(4)), "sha256")
        self.assertEqual(got.type, pa.binary(32))
        self.assertEqual(got.to_pylist(), [hashlib.sha256(b"abcd").digest(), None])

    def test_chunks(self):
        chunked = pa.chunked_array([VALUES[:3], [], VALUES[3:]], pa.string())
        got = arrowmask.sha2(chunked)
        self.assertEqual([len(c) for c in got.chunks], [3, 0, 4])
        self.assertEqual(got.to_pylist(), WANT)
        stream = arrowmask.sha2(OnlyStream(chunked))
        self.assertEqual(pa.chunked_array(stream).to_pylist(), WANT)
        with self.assertRaises(ValueError):
            stream.__arrow_c_stream__()
        empty = pa.chunked_array([], pa.string())
        self.assertEqual(arrowmask.sha2(empty).type, pa.string())

    def test_functions(self):
        names = pa.array(["Ann-42", None])
        for got, want in (
            (arrowmask.md5(names), hashlib.md5(b"Ann-42").hexdigest()),
            (arrowmask.sha1(names), hashlib.sha1(b"Ann-42").hexdigest()),
            (arrowmask.sha2(names, 512), hashlib.sha512(b"Ann-42").hexdigest()),
            (arrowmask.sha2(names, 7), None),
            (arrowmask.sha2(names, None), None),
            (arrowmask.mask(names), "Xxx-nn"),
            (arrowmask.mask(names, "U", "l", "d", "o"), "Ullodd"),
            (arrowmask.mask_first_n(names, 2), "Xxn-42"),
            (arrowmask.mask_last_n(names, 1), "Ann-4n"),
            (arrowmask.mask_show_first_n(names, 2), "Anx-nn"),
            (arrowmask.mask_show_last_n(names, 1), "Xxx-n2"),
            (arrowmask.mask_null(names), None),
            (arrowmask.hex(names), b"Ann-42".hex().upper()),
            (arrowmask.eval("mask_show_last_n({col}, 3)", names), "Xxx-42"),
        ):
            self.assertEqual(got.to_pylist(), [want, None])

    def test_quotes_are_escaped(self):
        self.assertEqual(arrowmask.mask(pa.array(["Ab"]), "'", '"').to_pylist(), ["'\""])

    def test_keys(self):
        keys = arrowmask.Keyring({"k1": b"0123456789abcdef"})
        want = hmac.new(b"0123456789abcdef", b"abc", "sha256").hexdigest()
        self.assertEqual(arrowmask.hmac(pa.array(["abc"]), "k1", keys=keys).to_pylist(), [want])
        self.assertEqual(arrowmask.mask_hmac(pa.array(["abc"]), keys=keys).to_pylist(), [want])
        with self.assertRaises(arrowmask.Error) as e:
            keys.add("k2", b"too-short")
        self.assertNotIn("too-short", str(e.exception))
        with self.assertRaises(TypeError):
            pickle.dumps(arrowmask.Kernel("mask_hmac({col})", keys=keys))

    def test_errors(self):
        for x, code in ((pa.array([1, 2]), 95), (pa.array([[1]]), 95)):
            with self.assertRaises(arrowmask.Error) as e:
                arrowmask.sha2(x)
            self.assertEqual(e.exception.code, code)
        for expr in ("sha2({col}", "nothing({col})", "sha2({col}, 'x', 3)"):
            with self.assertRaises(arrowmask.Error):
                arrowmask.eval(expr, pa.array(["a"]))
        with self.assertRaises(arrowmask.Error):
            arrowmask.sha2(pa.array(["a"]), no_such_option=1)
        with self.assertRaises(TypeError):
            arrowmask.sha2(["a"])
        with self.assertRaises(TypeError):
            arrowmask.sha2(pa.array(["a"]), 2.5)
        self.assertEqual(pickle.loads(pickle.dumps(arrowmask.Error(22, "why"))).args, ("why",))

    def test_B35_memory_is_released(self):
        """pyarrow counts what it allocates; exports release what they took."""
        gc.collect()  # of the tests before
        before = pa.total_allocated_bytes()
        for _ in range(200):
            array = pa.array(VALUES * 100)
            arrowmask.sha2(array)
            other = arrowmask.sha2(OnlyArray(array))
            pa.array(other)
            pa.chunked_array(arrowmask.sha2(OnlyStream(pa.chunked_array([array, array]))))
            arrowmask.sha2(OnlyStream(pa.chunked_array([array])))  # never read
            try:
                arrowmask.sha2(pa.array([1, 2, 3]))
            except arrowmask.Error:
                pass
        del array, other
        gc.collect()
        self.assertEqual(pa.total_allocated_bytes(), before)
        self.assertEqual(arrowmask._capsule._held, {})

    def test_outputs_outlive_inputs(self):
        got = arrowmask.mask_show_first_n(pa.array(VALUES * 1000), 3)
        other = arrowmask.mask_show_first_n(OnlyArray(pa.array(VALUES * 1000)), 3)
        gc.collect()
        junk = [bytes(100_000) for _ in range(100)]
        self.assertTrue(pa.array(other).equals(got))
        del junk

    def test_threads(self):
        array = pa.array(VALUES * 500)
        want, bad = arrowmask.sha2(array), []

        def work():
            for _ in range(20):
                if not arrowmask.sha2(array).equals(want):
                    bad.append(1)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(bad, [])
        self.assertTrue(arrowmask.sha2(array, threads=4).equals(want))

    def test_pickle(self):
        k = pickle.loads(pickle.dumps(arrowmask.Kernel("sha2({col}, 256)", threads=2)))
        self.assertEqual(k(pa.array(VALUES)).to_pylist(), WANT)

    def test_report_and_selftest(self):
        self.assertEqual(arrowmask.report()["abi"], 1)
        self.assertIn("sha256", arrowmask.selftest())


def hash_row(*values):
    """hash_row of texts, integers and dates, as its documentation has it."""
    row = b""
    for v in values:
        if v is None:
            row += b"\0"
            continue
        if isinstance(v, datetime.date):
            sort, body = b"d", str((v - datetime.date(1970, 1, 1)).days).encode()
        else:
            sort, body = (b"i", str(v).encode()) if isinstance(v, int) else (b"t", v.encode())
        row += sort + len(body).to_bytes(8, "big") + body
    return hashlib.sha256(row).hexdigest()


class SeveralColumns(unittest.TestCase):
    EXPR = "hash_row({text}, {n})"
    N = [None, 0, -1, 7, 7, 1 << 40, None]
    WANT = [hash_row(v, n) for v, n in zip(VALUES, N)]

    def setUp(self):
        self.text, self.n = pa.array(VALUES), pa.array(self.N)

    def test_ways_to_give_columns(self):
        chunks = pa.chunked_array([VALUES[:2], [], VALUES[2:]], pa.string())
        table = pa.table({"n": self.n, "unread": self.n, "text": chunks})
        batch = table.combine_chunks().to_batches()[0]
        f = arrowmask.Kernel(self.EXPR)
        self.assertEqual(f.columns, ("text", "n"))
        for got, kind in (
            (arrowmask.eval(self.EXPR, text=self.text, n=self.n), pa.Array),
            (arrowmask.eval(self.EXPR, {"n": self.n, "text": chunks}), pa.ChunkedArray),
            (arrowmask.eval(self.EXPR, table), pa.ChunkedArray),
            (arrowmask.eval(self.EXPR, batch), pa.Array),
            (arrowmask.eval(self.EXPR, table.to_reader()), pa.ChunkedArray),
            (f(self.text, self.n), pa.Array),
            (pickle.loads(pickle.dumps(f))(chunks, self.n), pa.ChunkedArray),
            (pa.array(f(OnlyArray(self.text), OnlyArray(self.n))), pa.Array),
            (pa.array(f(OnlyArray(batch))), pa.Array),
            (f(batch.to_struct_array()), pa.Array),
            (pa.chunked_array(f(OnlyStream(table))), pa.ChunkedArray),
        ):
            self.assertIsInstance(got, kind)
            got.validate(full=True)
            self.assertEqual(got.type, pa.string())
            self.assertEqual(got.to_pylist(), self.WANT)
        part = arrowmask.eval(self.EXPR, batch.slice(2, 3))
        self.assertEqual(part.to_pylist(), self.WANT[2:5])
        self.assertEqual(pa.array(arrowmask.eval(self.EXPR, OnlyArray(batch.slice(2, 3)))).to_pylist(), self.WANT[2:5])
        self.assertEqual(arrowmask.eval(self.EXPR, table.slice(0, 0)).type, pa.string())

    def test_scalars(self):
        got = arrowmask.eval(self.EXPR, text=self.text, n=pa.scalar(5))
        self.assertEqual(got.to_pylist(), [hash_row(v, 5) for v in VALUES])
        self.assertEqual(arrowmask.eval(self.EXPR, text=pa.scalar("a"), n=pa.scalar(5)).as_py(), hash_row("a", 5))

    def test_one_column_of_another_name(self):
        table = pa.table({"e mail": VALUES, "n": self.n})
        for x in (table, table["e mail"], self.text, OnlyStream(table["e mail"])):
            got = arrowmask.eval("sha2({e mail}, 256)", x)
            self.assertEqual((got if hasattr(got, "to_pylist") else pa.chunked_array(got)).to_pylist(), WANT)
        self.assertEqual(arrowmask.eval("sha2({keys}, 256)", keys=self.text).to_pylist(), WANT)
        self.assertEqual(arrowmask.eval("sha2({col}, 256)", col=self.text, threads=2).to_pylist(), WANT)

    def test_names(self):
        for expr, want in (
            ("mask({col}, '{x}', \"'{y}\")", ("col",)),
            ("hash_row({b}, {a}, sha2({b}))", ("b", "a")),
            ("mask({a}, 'it''s {b}')", ("a",)),
        ):
            self.assertEqual(arrowmask.Kernel(expr).columns, want)

    def test_layouts(self):
        n = pa.array(self.N)
        for array, want in (
            (pa.array(VALUES, pa.large_string()), pa.large_string()),
            (pa.array(VALUES, pa.string_view()), pa.string_view()),
            (self.text.dictionary_encode(), pa.string()),
        ):
            got = arrowmask.eval(self.EXPR, text=array, n=n)
            self.assertEqual((got.type, got.to_pylist()), (want, self.WANT))

    def test_errors(self):
        table = pa.table({"text": self.text})
        with self.assertRaises(KeyError):
            arrowmask.eval(self.EXPR, table)
        with self.assertRaises(KeyError):
            arrowmask.eval(self.EXPR, text=self.text)
        with self.assertRaisesRegex(TypeError, "text, n"):
            arrowmask.Kernel(self.EXPR)(self.text, self.n, self.n)
        with self.assertRaisesRegex(TypeError, "not both"):
            arrowmask.eval(self.EXPR, table, n=self.n)
        with self.assertRaisesRegex(TypeError, "give a table"):
            arrowmask.eval(self.EXPR, text=OnlyStream(self.text), n=OnlyStream(self.n))
        with self.assertRaisesRegex(arrowmask.Error, "rows"):
            arrowmask.eval(self.EXPR, text=self.text, n=self.n[1:])
        with self.assertRaisesRegex(arrowmask.Error, "no such column"):
            pa.chunked_array(arrowmask.eval(self.EXPR, OnlyStream(table)))

    def test_B35_memory_is_released(self):
        gc.collect()  # of the tests before
        before = pa.total_allocated_bytes()
        for _ in range(100):
            text, n = pa.array(VALUES * 100), pa.array(self.N * 100)
            batch = pa.record_batch({"text": text, "n": n})
            arrowmask.eval(self.EXPR, text=text, n=n)
            pa.array(arrowmask.eval(self.EXPR, OnlyArray(batch)))
            arrowmask.eval(self.EXPR, OnlyStream(pa.table([text, n], names=["text", "n"])))  # never read
            try:
                arrowmask.eval(self.EXPR, text=text, n=n[1:])
            except arrowmask.Error:
                pass
        del text, n, batch
        gc.collect()
        self.assertEqual(pa.total_allocated_bytes(), before)
        self.assertEqual(arrowmask._capsule._held, {})


POLICIES = ROOT / "testdata" / "samples" / "customers-policies.json"


class Policies(unittest.TestCase):
    def setUp(self):
        import pyarrow.parquet as pq

        # In this thread: others would hold memory for a while, which is counted here.
        whole = pq.read_table(ROOT / "testdata" / "samples" / "customers.parquet", use_threads=False, pre_buffer=False)
        self.table = whole.slice(0, 5000)

    def test_masks(self):
        got = arrowmask.Masker(POLICIES, user="ann", table="shop.customers").mask(self.table)
        got.validate(full=True)
        self.assertEqual(got.num_rows, self.table.num_rows)
        self.assertEqual(got["email"].to_pylist(), [sha256(v) for v in self.table["email"].to_pylist()])
        self.assertEqual(got["phone"].null_count, got.num_rows)
        self.assertTrue(got["id"].equals(self.table["id"]))

    def test_filter(self):
        country = self.table["country"][0].as_py()
        masker = arrowmask.Masker(str(POLICIES), user="sam", groups=["support"], attrs={"country": country}, table="shop.customers")
        got = masker.mask(self.table)
        got.validate(full=True)
        rows = [i for i, c in enumerate(self.table["country"].to_pylist()) if c == country]
        self.assertEqual(got["id"].to_pylist(), self.table["id"].take(rows).to_pylist())
        self.assertEqual(got["name"].to_pylist(), self.table["name"].take(rows).to_pylist())

    def test_everything_for_the_officer(self):
        got = arrowmask.Masker(POLICIES, user="dora", table="shop.customers").mask(self.table)
        self.assertTrue(got.equals(self.table))

    def test_a_plan_travels(self):
        plan = arrowmask.Policy(POLICIES).plan(self.table.schema, user="ann", table="shop.customers")
        self.assertEqual(plan, arrowmask.Policy(POLICIES.read_bytes()).plan(self.table, user="ann", table="shop.customers"))
        there = pickle.loads(pickle.dumps(arrowmask.Masker(plan=plan)))
        here = arrowmask.Masker(POLICIES, user="ann", table="shop.customers")
        self.assertTrue(there.mask(self.table).equals(here.mask(self.table)))

    def test_readers_and_batches(self):
        masker = arrowmask.Masker(POLICIES, user="ann", table="shop.customers")
        want = masker.mask(self.table)
        reader = masker.mask(self.table.to_reader(max_chunksize=700))
        self.assertIsInstance(reader, pa.RecordBatchReader)
        self.assertTrue(reader.read_all().equals(want))
        batch = self.table.combine_chunks().to_batches()[0].slice(10, 100)
        self.assertTrue(masker.mask(batch).equals(want.slice(10, 100).combine_chunks().to_batches()[0]))
        self.assertEqual(masker.mask(batch.slice(0, 0)).num_rows, 0)

    def test_closed(self):
        for request in (
            dict(user="", table="shop.customers"),
            dict(user="ann", table="shop.customer"),  # no policy knows it
            dict(user="sam", groups=["support"], table="shop.customers"),  # the filter needs a country
        ):
            with self.assertRaises(arrowmask.Error):
                arrowmask.Masker(POLICIES, **request).mask(self.table)
        plan = arrowmask.Policy(POLICIES).plan(self.table.schema, user="ann", table="shop.customers")
        with self.assertRaises(arrowmask.Error):
            arrowmask.Masker(plan=plan).mask(self.table.drop_columns(["note"]))
        with self.assertRaises(arrowmask.Error):
            arrowmask.Masker(plan=plan[:-3]).mask(self.table)

    def test_B35_tables_are_released(self):
        masker = arrowmask.Masker(POLICIES, user="ann", table="shop.customers")
        gc.collect()  # of the tests before
        before = pa.total_allocated_bytes()
        for _ in range(20):
            masker.mask(self.table)
            masker.mask(self.table.to_reader(max_chunksize=1000))  # never read
            masker.mask(self.table.to_reader(max_chunksize=1000)).read_next_batch()
        gc.collect()
        self.assertEqual(pa.total_allocated_bytes(), before)


class Processes(unittest.TestCase):
    """Forks and signals, each in a process of its own."""

    def run_script(self, script):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    HEAD = "import arrowmask, multiprocessing as mp, os, signal, sys, threading, time\nimport pyarrow as pa\n" \
           "def work(i):\n    return arrowmask.sha2(pa.array([str(i)] * 1000))[0].as_py()\n"

    def test_spawn(self):
        self.run_script(self.HEAD + "work(0)\n" + "print(arrowmask.report()['abi'])")

    def test_fork_before_the_first_call(self):
        """Importing is not loading: workers of a pool load the library themselves."""
        self.run_script(self.HEAD + (
            "import hashlib\n"
            "with mp.get_context('fork').Pool(2) as pool:\n"
            "    got = pool.map(work, range(20))\n"
            "assert got == [hashlib.sha256(str(i).encode()).hexdigest() for i in range(20)]\n"))

    def test_fork_after_load(self):
        """A child of a process that has called gets an error, and does not hang."""
        self.run_script(self.HEAD + (
            "kept = arrowmask.sha2(pa.array(['a']))\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    signal.alarm(30)\n"
            "    try:\n"
            "        work(1)\n"
            "    except arrowmask.Error as e:\n"
            "        os._exit(0 if 'fork' in str(e) else 3)\n"
            "    os._exit(4)\n"
            "assert os.waitpid(child, 0)[1] == 0\n"
            "work(2)\n"))

    def test_signals(self):
        """SIGCHLD, SIGPROF and SIGURG reach the handlers of the host, set before or
        after the library is loaded, while calls go on in threads."""
        self.run_script(self.HEAD + (
            "seen = {}\n"
            "def count(n, frame):\n    seen[n] = seen.get(n, 0) + 1\n"
            "which = [signal.SIGCHLD, signal.SIGPROF, signal.SIGURG]\n"
            "for after in (False, True):\n"
            "    if after: arrowmask.selftest()\n"
            "    for s in which: signal.signal(s, count)\n"
            "    seen.clear()\n"
            "    stop = []\n"
            "    def busy():\n"
            "        while not stop: work(1)\n"
            "    threads = [threading.Thread(target=busy) for _ in range(4)]\n"
            "    for t in threads: t.start()\n"
            "    for i in range(300):\n"
            "        for s in which: os.kill(os.getpid(), s)\n"
            "        time.sleep(0.001)\n"
            "    for i in range(5):\n"
            "        child = os.posix_spawn('/bin/true', ['true'], {})\n"
            "        os.waitpid(child, 0)\n"
            "    stop.append(1)\n"
            "    for t in threads: t.join()\n"
            "    time.sleep(0.01)\n"
            "    assert set(seen) == set(which), seen\n"
            "signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)\n"
            "for i in range(300): work(i)\n"
            "signal.setitimer(signal.ITIMER_PROF, 0)\n"))


if __name__ == "__main__":
    unittest.main()
