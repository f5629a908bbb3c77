"""The same table hashed and masked in five engines, by the command line, and by
the engines' own functions: the same columns everywhere.

ARROWMASK_BIN names the command line. ARROWMASK_ENGINES_RAN names a file to which
every engine that ran is added.
"""

import contextlib
import datetime
import decimal
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import arrowmask
import pyarrow as pa
import pyarrow.parquet as pq
from test_package import hash_row

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = str(ROOT / "testdata" / "samples" / "customers.parquet")
POLICIES = str(ROOT / "testdata" / "samples" / "customers-policies.json")
BIN = os.environ.get("ARROWMASK_BIN", str(ROOT / "bin" / "arrowmask"))

#: column: function, its arguments
MASKS = {
    "name": ("mask", ()),
    "email": ("sha2", (256,)),
    "phone": ("md5", ()),
    "card": ("mask_show_last_n", (4,)),
    "country": ("sha1", ()),
    "note": ("mask_hash", ()),
}
SQL = ", ".join(f"am_{f}({', '.join([c, *map(str, a)])}) AS {c}" for c, (f, a) in MASKS.items())

#: Several columns of the table as one, as the command line has them in place of note.
PERSON = "hash_row({id}, {name}, {birth_date})"
PERSON_IN_SQL = {"person": (PERSON, {"name": "string", "birth_date": "date32", "id": "int64"})}
PERSON_SQL = "SELECT person(name, birth_date, id) AS person FROM {} ORDER BY id"

#: Functions of the caller's, over other types than text and over several columns.
OWN = {
    "own_salary": ("mask({col})", "int64"),
    "own_born": ("mask({col}, 'x', 'x', 'x', -1, '1', 1, 0, -1)", "date"),
    "own_rate": ("mask_null({col})", "double"),
    "own_price": ("mask_null({col})", "decimal(10, 2)"),
    "own_key": ("hash_row({born}, {name}, {n})", {"name": "VARCHAR", "n": "INTEGER", "born": pa.date32()}),
    "own_two": "hash_row({a}, {b})",
    "own_digest": "digest({col}, 'sha256')",
}
NAMES = ["Ann", None, "", "Zoë"]
NUMBERS = [7, -1, None, 12]
BORN = [datetime.date(1980, 5, 6), datetime.date(1969, 12, 31), None, datetime.date(2020, 2, 29)]
PEOPLE = pa.table({
    "id": [1, 2, 3, 4],
    "name": NAMES,
    "n": pa.array(NUMBERS, pa.int32()),
    "salary": [1234, None, -56, 0],
    "born": pa.array(BORN, pa.date32()),
    "rate": [1.5, None, 2.5, 0.0],
    "price": pa.array([decimal.Decimal("1.25"), None, None, decimal.Decimal("0.5")], pa.decimal128(10, 2)),
})
OWN_SQL = (
    "SELECT own_salary(salary) salary, own_born(born) born, own_rate(rate) rate, own_price(price) price, own_key(name, n, born) AS k,"
    " own_two(name, 'salt') two, own_digest(name) digest FROM people ORDER BY id"
)
OWN_WANT = {
    "salary": ([1111, None, -11, 1], pa.int64()),
    "born": ([d and d.replace(month=1, day=1) for d in BORN], pa.date32()),
    "rate": ([None] * 4, pa.float64()),
    "price": ([None] * 4, pa.decimal128(10, 2)),
    "k": ([hash_row(*v) for v in zip(BORN, NAMES, NUMBERS)], pa.string()),
    "two": ([hash_row(v, "salt") for v in NAMES], pa.string()),
    "digest": ([None if v is None else hashlib.sha256(v.encode()).digest() for v in NAMES], pa.binary()),
}


def text(column):
    """One chunk of plain text, whatever the layout."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.string())


class Engines(unittest.TestCase):
    maxDiff = 1000

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.work = pathlib.Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        out = cls.work / "by-command-line.parquet"
        sets = [x for c, (f, a) in MASKS.items() for x in ("--set", f"{c}={f}({', '.join(['{col}', *map(str, a)])})")]
        subprocess.run([BIN, "mask", TABLE, "-o", out, *sets], check=True, capture_output=True)
        cls.raw = pq.read_table(TABLE)
        cls.want = pq.read_table(out)
        subprocess.run([BIN, "mask", TABLE, "-o", out, "--overwrite", "--set", f"note={PERSON}"], check=True, capture_output=True)
        cls.person = {"person": pq.read_table(out)["note"]}
        assert cls.raw.num_rows == 100_000

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    def ran(self, engine, version):
        print(f"{engine} {version}", file=sys.stderr)
        if "ARROWMASK_ENGINES_RAN" in os.environ:
            with open(os.environ["ARROWMASK_ENGINES_RAN"], "a") as f:
                f.write(f"{engine} {version}\n")

    def check(self, got, want=None):
        """Columns of a result that is in the order of id."""
        want = want or {c: self.want[c] for c in MASKS}
        for c, w in want.items():
            self.assertEqual(len(got[c]), len(w), c)
            self.assertTrue(text(got[c]).equals(text(w)), f"column {c} differs")

    def check_own(self, got):
        """The answer to OWN_SQL."""
        for c, (want, dtype) in OWN_WANT.items():
            self.assertEqual(got[c].cast(dtype).to_pylist(), want, c)
            self.assertIn(got[c].type, (dtype, pa.string_view(), pa.binary_view(), pa.large_string(), pa.large_binary()), c)

    def hashlib_column(self, column, alg):
        return pa.array([None if v is None else hashlib.new(alg, v.encode()).hexdigest() for v in self.raw[column].to_pylist()])

    def policy_table(self):
        """What ann sees, by the command line."""
        out = self.work / "for-ann.parquet"
        if out.exists():
            return pq.read_table(out)
        subprocess.run([BIN, "mask", TABLE, "-o", out, "--policy", POLICIES, "--user", "ann", "--resource", "shop.customers"], check=True, capture_output=True)
        return pq.read_table(out)

    def test_pyarrow(self):
        got = {c: getattr(arrowmask, f)(self.raw[c], *a) for c, (f, a) in MASKS.items()}
        self.check(got)
        self.check({"person": arrowmask.eval(PERSON, self.raw)}, self.person)
        self.check({c: self.hashlib_column(c, a) for c, a in (("email", "sha256"), ("phone", "md5"), ("country", "sha1"), ("note", "sha256"))},
                   {c: got[c] for c in ("email", "phone", "country", "note")})
        import pyarrow.compute as pc

        pc.register_scalar_function(lambda ctx, x: arrowmask.sha2(x, 256), "am_sha2_256", {"summary": "SHA-256", "description": "as hexadecimal"}, {"x": pa.string()}, pa.string())
        self.check({"email": pc.call_function("am_sha2_256", [self.raw["email"]])}, {"email": got["email"]})
        masked = arrowmask.Masker(POLICIES, user="ann", table="shop.customers").mask(self.raw)
        want = self.policy_table()
        for c in want.column_names:
            self.assertTrue(masked[c].combine_chunks().equals(want[c].combine_chunks().cast(masked[c].type)), c)
        self.ran("pyarrow", pa.__version__)

    def test_polars(self):
        try:
            import polars as pl
        except ImportError as e:
            self.skipTest(f"polars is not installed: {e}")
        import arrowmask.polars as am

        frame = pl.scan_parquet(TABLE)
        for engine in ("in-memory", "streaming"):
            got = frame.with_columns(getattr(am, f)(c, *a) for c, (f, a) in MASKS.items()).collect(engine=engine)
            self.assertEqual(got.schema["email"], pl.String)
            self.check({c: got[c].to_arrow() for c in MASKS})
            person = frame.select(am.eval(PERSON, id="id", name="name", birth_date="birth_date")).collect(engine=engine)
            self.check({"person": person["id"].to_arrow()}, self.person)
        # One Series and several chunks, outside of the plugin.
        series = pl.concat([got["id"].cast(str), pl.Series("id", ["x", None])], rechunk=False)
        self.assertEqual(arrowmask.md5(series).to_list()[-2:], [hashlib.md5(b"x").hexdigest(), None])
        self.assertEqual(got.select(am.md5(pl.col("email").head(0))).height, 0)
        keys = arrowmask.Keyring({"k": b"0123456789abcdef"})
        keyed = pl.DataFrame({"x": ["abc", None]}).select(am.mask_hmac("x", keys=keys))
        self.assertEqual(keyed["x"].to_list(), arrowmask.mask_hmac(pa.array(["abc", None]), keys=keys).to_pylist())
        with self.assertRaisesRegex(pl.exceptions.PolarsError, "type not supported"):
            pl.DataFrame({"x": [1]}).select(am.sha2("x"))
        with self.assertRaisesRegex(pl.exceptions.PolarsError, "syntax error"):
            pl.DataFrame({"x": ["a"]}).select(am.eval("sha2({col}", "x"))
        # Several columns, cut into chunks of their own, and a literal.
        parts = [{"x": ["a", None], "y": [1, 2]}, {"x": ["b"], "y": [None]}]
        two = pl.concat([pl.DataFrame(p, schema={"x": pl.String, "y": pl.Int32}) for p in parts], rechunk=False)
        two = two.with_columns(z=pl.Series([True, False, True]))
        want = arrowmask.eval("hash_row({a}, {b})", a=two["x"], b=two["y"]).to_list()
        salted = [hashlib.sha256(b"t" + (1).to_bytes(8, "big") + b"s" + (b"t" + (1).to_bytes(8, "big") + v.encode() if v else b"\0")).hexdigest() for v in two["x"]]
        for engine in ("in-memory", "streaming"):
            got = two.lazy().select(
                am.eval("hash_row({a}, {b})", a="x", b=pl.col("y")),
                am.eval("hash_row({x}, {y})", pl.struct("z", "y", "x")).alias("struct"),
                am.eval("hash_row({s}, {col})", s=pl.lit("s"), col="x").alias("salted"),
                am.eval("sha2({col}, 256)", col="x").alias("one"),
            ).collect(engine=engine)
            self.assertEqual(got["x"].to_list(), want)
            self.assertEqual(got["struct"].to_list(), want)
            self.assertEqual(got["salted"].to_list(), salted)
            self.assertEqual(got["one"].to_list(), arrowmask.sha2(two["x"]).to_list())
        self.assertEqual(arrowmask.eval("hash_row({x}, {y})", two).to_list(), want)
        with self.assertRaisesRegex(pl.exceptions.PolarsError, "no such column"):
            two.select(am.eval("hash_row({a}, {b})", a="x"))
        with self.assertRaises(TypeError):
            am.eval("hash_row({a}, {b})", "x", a="x", b="y")
        masked = arrowmask.Masker(POLICIES, user="ann", table="shop.customers").mask(pl.read_parquet(TABLE))
        self.assertIsInstance(masked, pl.DataFrame)
        self.check({c: masked[c].to_arrow() for c in ("name", "email", "phone")}, {c: self.policy_table()[c] for c in ("name", "email", "phone")})
        self.ran("polars", pl.__version__)

    def test_duckdb(self):
        try:
            import duckdb
        except ImportError as e:
            self.skipTest(f"duckdb is not installed: {e}")
        import arrowmask.duckdb

        native = arrowmask.duckdb.connect(functions={"last_two": "mask_show_last_n({col}, 2)", **PERSON_IN_SQL})
        self.assertTrue(arrowmask.duckdb.native(native))
        arrow = duckdb.connect()
        names = arrowmask.duckdb.register(arrow, functions={"last_two": "mask_show_last_n({col}, 2)", **PERSON_IN_SQL})
        self.assertIn("am_sha2", names)
        self.assertFalse(arrowmask.duckdb.native(arrow))
        for con in native, arrow:
            got = con.sql(f"SELECT {SQL} FROM '{TABLE}' ORDER BY id").to_arrow_table()
            self.check(got)
            self.check(con.sql(PERSON_SQL.format(f"'{TABLE}'")).to_arrow_table(), self.person)
            own = con.sql(f"SELECT sha256(email) AS email, md5(phone) AS phone, sha1(country) AS country, sha256(note) AS note FROM '{TABLE}' ORDER BY id").to_arrow_table()
            self.check(got, {c: own[c] for c in own.column_names})
            self.assertEqual(con.sql("SELECT last_two('abcd'), am_sha2('a', NULL), am_sha2(NULL, 256)").fetchall(), [("xxcd", None, None)])
            with self.assertRaisesRegex(duckdb.Error, "same for every row"):
                con.sql("SELECT am_sha2('a', n) FROM (VALUES (256), (512)) t(n)").fetchall()
            with self.assertRaisesRegex(arrowmask.Error, "function of that name exists: hex"):
                arrowmask.duckdb.register(con, prefix="", functions={"md5": "md5({col})"})
            if con is native:
                con = arrowmask.duckdb.connect(functions=OWN)
            else:
                con = duckdb.connect()
                arrowmask.duckdb.register(con, functions=OWN)
            con.register("people", PEOPLE)
            self.check_own(con.sql(OWN_SQL).to_arrow_table())
            with self.assertRaisesRegex(arrowmask.Error, "function of that name exists: own_key"):
                arrowmask.duckdb.register(con, prefix="other_", functions={"own_key": OWN["own_key"]})
            with self.assertRaisesRegex(TypeError, "no type for date64"):
                arrowmask.duckdb.register(con, prefix="another_", functions={"bad": ("mask({col})", "date64")})
        self.ran("duckdb", duckdb.__version__)

    def test_datafusion(self):
        try:
            import datafusion
        except ImportError as e:
            self.skipTest(f"datafusion is not installed: {e}")
        import arrowmask.datafusion

        ctx = datafusion.SessionContext()
        arrowmask.datafusion.register(ctx, functions={"last_two": "mask_show_last_n({col}, 2)", **PERSON_IN_SQL})
        ctx.register_parquet("customers", TABLE)
        got = ctx.sql(f"SELECT {SQL} FROM customers ORDER BY id").to_arrow_table()
        self.check(got)
        self.check(ctx.sql(PERSON_SQL.format("customers")).to_arrow_table(), self.person)
        own = ctx.sql("SELECT encode(sha256(email), 'hex') AS email, md5(phone) AS phone, encode(sha256(note), 'hex') AS note FROM customers ORDER BY id").to_arrow_table()
        self.check(got, {c: own[c] for c in own.column_names})
        row = ctx.sql("SELECT last_two('abcd') AS a, am_sha2(NULL, 256) AS b").to_arrow_table().to_pylist()
        self.assertEqual(row, [{"a": "xxcd", "b": None}])
        self.assertEqual(arrowmask.datafusion.register(ctx, functions=OWN)[-len(OWN):], list(OWN))
        ctx.register_record_batches("people", [PEOPLE.to_batches()])
        self.check_own(ctx.sql(OWN_SQL).to_arrow_table())
        for spec, error in (
            (("sha2({col})", "int64"), arrowmask.Error), ("sha2({col}", arrowmask.Error), (("mask({col})", "no type"), ValueError),
            (("hash_row({a}, {b})", {"a": "int64"}), TypeError),
        ):
            with self.assertRaises(error):
                arrowmask.datafusion.register(ctx, functions={"bad": spec})
        self.ran("datafusion", datafusion.__version__)

    def test_spark(self):
        try:
            import pyspark
            from pyspark.sql import SparkSession
        except ImportError as e:
            self.skipTest(f"pyspark is not installed: {e}")
        import arrowmask.spark

        os.environ["PYSPARK_PYTHON"] = sys.executable
        session = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.ui.enabled", "false")
            .config("spark.log.level", "ERROR")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "2")
        )
        for name in ("PYTHONPATH", "ARROWMASK_LIBRARY"):
            if name in os.environ:
                session = session.config(f"spark.executorEnv.{name}", os.environ[name])
        try:
            spark = session.getOrCreate()
        except Exception as e:  # no Java, or one that Spark does not take
            self.skipTest(f"Spark does not start: {e}")
        try:
            arrowmask.spark.register(spark, functions={"am_spark_mask": "mask({col})"}, dialect="spark")
            spark.read.parquet(TABLE).createOrReplaceTempView("customers")
            own = spark.sql(
                "SELECT sha2(email, 256) email, md5(phone) phone, sha1(country) country, mask(name) name, am_spark_mask(name) our_name,"
                " sha2(email, 256) = am_sha2(email, 256) OR email IS NULL same FROM customers ORDER BY id").toArrow()
            self.check({"name": own["our_name"]}, {"name": own["name"]})
            self.assertEqual(own["same"].to_pylist(), [True] * 100_000)
            arrowmask.spark.register(spark)
            got = spark.sql(f"SELECT {SQL} FROM customers ORDER BY id").toArrow()
            self.check(got)
            self.check(got, {c: own[c] for c in ("email", "phone", "country")})
            arrowmask.spark.register(spark, functions={**OWN, **PERSON_IN_SQL})
            self.check(spark.sql(PERSON_SQL.format("customers")).toArrow(), self.person)
            spark.createDataFrame(PEOPLE).repartition(2).createOrReplaceTempView("people")
            self.check_own(spark.sql(OWN_SQL).toArrow())
            # A plan made here masks in the executors, in several processes.
            frame = spark.read.parquet(TABLE).repartition(2)
            masked = arrowmask.spark.mask(frame, POLICIES, user="ann", table="shop.customers").orderBy("id").toArrow()
            want = self.policy_table()
            for c in want.column_names:
                self.assertTrue(masked[c].combine_chunks().cast(want[c].type).equals(want[c].combine_chunks()), c)

            def where(batches):
                import os

                import arrowmask
                import pyarrow as pa

                for b in batches:
                    arrowmask.sha2(b.column(0))
                    yield pa.RecordBatch.from_pydict({"executor": [os.environ.get("SPARK_EXECUTOR_DIRS", "?") + str(os.getppid())], "pid": [str(os.getpid())]})

            places = spark.read.parquet(TABLE).select("email").repartition(4).mapInArrow(where, "executor string, pid string").toArrow()
            self.assertGreaterEqual(len(set(places["executor"].to_pylist())), 2, "the functions ran in one executor only")
            self.ran("spark", pyspark.__version__)
        finally:
            spark.stop()


if __name__ == "__main__":
    unittest.main()
