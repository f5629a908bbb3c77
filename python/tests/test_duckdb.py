"""The library as a DuckDB extension: every shape of a chunk, against DuckDB's own
functions, the other way in (through Arrow and Python) and hashlib."""

import concurrent.futures
import hashlib
import os
import tempfile
import unittest

import arrowmask
import arrowmask.duckdb
import duckdb
import pyarrow as pa

#: Text of every kind: NULL, empty, inline in DuckDB's vectors (up to 12 bytes), just
#: beyond, of several blocks, with characters of several bytes.
VALUES = (
    "CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'Zoë ' || i WHEN 3 THEN repeat('x', (i % 300)::INT)"
    " WHEN 4 THEN 'twelve bytes' WHEN 5 THEN 'thirteen byte' WHEN 6 THEN i::VARCHAR WHEN 7 THEN repeat('李', (i % 90)::INT)"
    " WHEN 8 THEN repeat('a', 55 + (i % 3)::INT) WHEN 9 THEN chr(65 + (i % 26)::INT) || '-42' ELSE sha256(i::VARCHAR) END"
)
#: Functions that DuckDB has, too.
OWN = {"am_sha2(x, 256)": "sha256(x)", "am_sha256(x)": "sha256(x)", "am_md5(x)": "md5(x)", "am_sha1(x)": "sha1(x)", "am_hex(x)": "hex(x)"}
#: All of them, by calls.
CALLS = [f"am_{f}(x)" for f in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "hex", "mask", "mask_hash", "mask_null")] + [
    f"am_{f}(x, {n})" for f in ("mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n") for n in (0, 1, 4, 100, "NULL")
] + [f"am_sha2(x, {n})" for n in (0, 224, 256, 384, 512, 7, "NULL")]


def table(con, rows, name="t"):
    con.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT i, {VALUES} AS x FROM range({rows}) r(i)")


class Native(unittest.TestCase):
    def setUp(self):
        self.con = arrowmask.duckdb.connect()
        self.assertTrue(arrowmask.duckdb.native(self.con))

    def one(self, sql):
        return self.con.execute(sql).fetchall()[0][0]

    def columns(self, con, calls):
        return con.execute(f"SELECT {', '.join(calls)} FROM t ORDER BY i").fetchall()

    def test_sizes(self):
        for rows in (0, 1, 2, 63, 64, 65, 2047, 2048, 2049, 10_000):
            table(self.con, rows)
            for ours, own in OWN.items():
                self.assertEqual(self.one(f"SELECT count(*) FROM t WHERE {ours} IS DISTINCT FROM {own}"), 0, (rows, ours))
                # Rows that a filter picks out of chunks.
                self.assertEqual(self.one(f"SELECT count(*) FROM t WHERE i % 3 = 0 AND x IS NOT NULL AND {ours} <> {own}"), 0, (rows, ours))

    def test_like_arrow(self):
        other = duckdb.connect()
        arrowmask.duckdb.register(other, native=False)
        self.assertFalse(arrowmask.duckdb.native(other))
        for con in self.con, other:
            table(con, 5000)
        self.assertEqual(self.columns(self.con, CALLS), self.columns(other, CALLS))

    def test_like_hashlib(self):
        table(self.con, 3000)
        for x, *got in self.con.execute("SELECT x, am_sha224(x), am_sha384(x), am_sha512(x) FROM t").fetchall():
            want = [None if x is None else hashlib.new(a, x.encode()).hexdigest() for a in ("sha224", "sha384", "sha512")]
            self.assertEqual(got, want)

    def test_no_nulls_all_nulls(self):
        self.con.execute("CREATE TABLE n AS SELECT CAST(NULL AS VARCHAR) AS x FROM range(3000)")
        self.assertEqual(self.one("SELECT count(am_sha256(x)) + count(am_mask(x)) FROM n"), 0)
        self.con.execute("CREATE TABLE f AS SELECT sha256(i::VARCHAR) AS x FROM range(3000) r(i)")
        self.assertEqual(self.one("SELECT count(*) FROM f WHERE am_sha256(x) = sha256(x) AND am_mask_null(x) IS NULL"), 3000)

    def test_constants_and_dictionaries(self):
        self.assertEqual(self.one("SELECT am_sha2('abc', 256)"), hashlib.sha256(b"abc").hexdigest())
        self.assertEqual(self.one("SELECT count(DISTINCT am_sha256('abc')) FROM range(5000)"), 1)
        # Few values, and too many of them for a table of the values of a chunk.
        for values in ("['red', NULL, '', 'a colour of more than twelve'][1 + i % 4]", "CASE WHEN i % 7 = 0 THEN NULL ELSE repeat('x', (i % 40)::INT) || hash(i) % 500 END"):
            self.con.execute(f"CREATE OR REPLACE TABLE d AS SELECT {values} AS x FROM range(100000) r(i)")
            with tempfile.TemporaryDirectory() as work:
                self.con.execute(f"COPY d TO '{work}/d.parquet'")
                for source in ("d", f"'{work}/d.parquet'"):
                    got = self.con.execute(f"SELECT count(*) FILTER (am_sha256(x) IS DISTINCT FROM sha256(x)), count(*) FILTER (am_mask_first_n(x, 100) IS DISTINCT FROM am_mask(x)), count(x) - count(am_mask(x)) FROM {source}").fetchall()
                    self.assertEqual(got, [(0, 0, 0)], (values, source))

    def test_nested(self):
        table(self.con, 5000)
        self.assertEqual(self.one("SELECT count(*) FROM t WHERE am_sha256(am_md5(am_mask(x))) IS DISTINCT FROM sha256(md5(am_mask(x)))"), 0)
        self.assertEqual(self.one("SELECT count(*) FROM (SELECT am_sha256(x) h FROM t ORDER BY i) a POSITIONAL JOIN (SELECT sha256(x) g FROM t ORDER BY i) b WHERE h IS DISTINCT FROM g"), 0)
        self.assertEqual(self.one("SELECT sum(n) FROM (SELECT count(*) n FROM t GROUP BY am_sha256(x))"), 5000)

    def test_long(self):
        self.con.execute("CREATE TABLE l AS SELECT repeat('0123456789', 600_000) AS x FROM range(6) UNION ALL SELECT 'short'")
        self.assertEqual(self.one("SELECT count(*) FROM l WHERE am_sha256(x) = sha256(x) AND am_mask(x) = CASE x WHEN 'short' THEN 'xxxxx' ELSE repeat('n', 6_000_000) END"), 7)

    def test_grows(self):
        # A result longer than its text, as some characters are.
        self.con.execute("CREATE TABLE g AS SELECT repeat('0', i::INT) AS x FROM range(3000) r(i)")
        self.assertEqual(self.one("SELECT count(*) FROM g WHERE am_eval(x, 'mask({col}, ''X'', ''x'', ''李'')') = replace(x, '0', '李')"), 3000)

    def test_errors(self):
        for sql, text in {
            "SELECT am_sha2('a', n) FROM (VALUES (256), (512)) t(n)": "same for every row",
            "SELECT am_sha2('a', n) FROM (VALUES (256), (NULL)) t(n)": "same for every row",
            "SELECT am_eval('a', e) FROM (VALUES ('md5({col})'), ('sha1({col})')) t(e)": "same for every row",
            "SELECT am_eval('a', 'sha2({col}')": "syntax error",
            "SELECT am_eval('a', 'nothing({col})')": "nothing",
            "SELECT am_eval('a', NULL)": "must not be NULL",
            "SELECT am_eval('a', 'digest({col}, ''md5'')')": "type not supported",
            "SELECT am_eval('a', 'mask({col})', '{\"dialekt\": \"hive\"}')": "unknown field",
            "SELECT am_eval('a', 'mask({col})', '{\"dialect\": \"nothing\"}')": "dialect",
            "SELECT am_eval('a', 'mask_hmac({col})')": "key",
        }.items():
            with self.assertRaisesRegex(duckdb.Error, text, msg=sql):
                self.con.execute(sql).fetchall()
        for sql in ("SELECT am_sha2('a')", "SELECT am_sha2('a', 'b')", "SELECT am_md5()"):
            with self.assertRaises(duckdb.Error, msg=sql):
                self.con.execute(sql).fetchall()
        self.assertEqual(self.one("SELECT am_mask('Abc')"), "Xxx")

    def test_eval(self):
        table(self.con, 5000)
        self.assertEqual(self.one("SELECT count(*) FROM t WHERE am_eval(x, 'sha2({col}, 256)') IS DISTINCT FROM sha256(x)"), 0)
        self.assertEqual(self.one("SELECT am_eval(NULL, 'mask_hash({col})', '{\"dialect\": \"impala\"}')"), arrowmask.mask_hash(pa.array([None], "string"), dialect="impala")[0].as_py())
        # A number that a prepared statement brings, and one that is a column.
        self.assertEqual(self.con.execute("SELECT am_sha2('abc', ?)", [512]).fetchall()[0][0], hashlib.sha512(b"abc").hexdigest())
        self.assertEqual(self.one("SELECT count(DISTINCT am_sha2(x, n)) FROM (SELECT 'abc' AS x, 384 AS n FROM range(5000))"), 1)

    def test_many_expressions(self):
        for i in range(1100):
            self.assertEqual(self.one(f"SELECT am_eval('abcdefgh', 'mask_show_first_n({{col}}, {i})')"), "abcdefgh"[:i] + "x" * (8 - i))

    def test_register(self):
        con = arrowmask.duckdb.connect(prefix="my_", functions={"card": "mask_show_last_n({col}, 4)"}, dialect="hive")
        self.assertTrue(arrowmask.duckdb.native(con))
        got = con.execute("SELECT my_sha2('abc', 256), my_sha2('abc', NULL), card('4111-1234'), my_mask('Ab1')").fetchall()
        self.assertEqual(got, [(hashlib.sha256(b"abc").hexdigest(), None, "nnnn-1234", "Xxn")])
        self.assertEqual(arrowmask.duckdb.register(self.con), arrowmask.duckdb.register(self.con), "twice is once")
        arrowmask.duckdb.register(self.con, dialect="impala")
        self.assertIsNotNone(self.one("SELECT am_mask_hash(NULL)"))
        with self.assertRaisesRegex(arrowmask.Error, "exists: md5"):
            arrowmask.duckdb.register(self.con, functions={"md5": "md5({col})"})
        # Keys stay in Python: the other way is taken.
        keys = arrowmask.Keyring({"k": b"0123456789abcdef"})
        other = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        arrowmask.duckdb.register(other, functions={"keyed": "mask_hmac({col})"}, keys=keys)
        self.assertFalse(arrowmask.duckdb.native(other))
        self.assertEqual(len(other.execute("SELECT keyed('a')").fetchall()[0][0]), 64)
        # A database that allows signed extensions only.
        plain = duckdb.connect()
        with self.assertRaisesRegex(arrowmask.Error, "allow_unsigned_extensions"):
            arrowmask.duckdb.register(plain, native=True)
        arrowmask.duckdb.register(plain)
        self.assertFalse(arrowmask.duckdb.native(plain))

    def test_names_taken(self):
        con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        con.execute("CREATE MACRO am_sha2(x, n) AS 'mine'")
        with self.assertRaisesRegex(arrowmask.Error, "function of that name exists: am_sha2"):
            arrowmask.duckdb.register(con, native=True)
        self.assertEqual(con.execute("SELECT am_sha2('a', 1)").fetchall(), [("mine",)])

    def test_threads(self):
        self.con.execute("SET threads = 4")
        table(self.con, 300_000)
        self.assertEqual(self.one("SELECT count(*) FROM t WHERE am_sha256(x) IS DISTINCT FROM sha256(x) OR am_mask(x) IS DISTINCT FROM am_eval(x, 'mask({col})')"), 0)

        def query(i):
            return self.con.cursor().execute(f"SELECT count(*) FROM t WHERE am_sha2(x, 256) IS DISTINCT FROM sha256(x) OR am_mask_show_last_n(x, {i}) IS NULL AND x IS NOT NULL").fetchall()

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(query, range(8))), [[(0,)]] * 8)

    def test_databases_come_and_go(self):
        for _ in range(20):
            con = arrowmask.duckdb.connect()
            self.assertEqual(con.execute("SELECT am_md5('a')").fetchall(), [(hashlib.md5(b"a").hexdigest(),)])
            con.close()
        with tempfile.TemporaryDirectory() as work:
            for _ in range(2):
                con = arrowmask.duckdb.connect(work + "/file.db")
                con.execute("CREATE TABLE IF NOT EXISTS t AS SELECT am_mask('Ab') AS x")
                self.assertEqual(con.execute("SELECT x FROM t").fetchall(), [("Xx",)])
                con.close()

    def test_fork(self):
        self.one("SELECT am_md5('a')")
        pid = os.fork()
        if pid == 0:
            try:
                self.one("SELECT am_md5('a')")
                os._exit(1)
            except duckdb.Error as e:
                os._exit(0 if "forked" in str(e) else 2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main()
