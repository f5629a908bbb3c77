"""ClickHouse in the process (chdb): a query over a table in memory. The format
Null computes the result and throws it away block by block, which costs nothing."""

import itertools

import chdb
import pyarrow as pa
from chdb import session

SQL = {"md5": "lower(hex(MD5(x)))", "sha1": "lower(hex(SHA1(x)))", "sha256": "lower(hex(SHA256(x)))", "sha512": "lower(hex(SHA512(x)))"}


class Engine:
    name = "chdb"
    functions = (*SQL, "scan")

    def __init__(self, threads):
        self.threads = threads
        self.version = chdb.engine_version if isinstance(getattr(chdb, "engine_version", None), str) else chdb.__version__
        self.session = session.Session()
        self.session.query("CREATE DATABASE bench ENGINE = Atomic")
        self.tables = {}
        self.numbers = itertools.count()

    def load(self, name, x):
        rows = pa.table({"i": pa.array(range(len(x)), pa.uint32()), "x": x})  # noqa: F841, the query reads it
        t = f"bench.t{next(self.numbers)}"
        self.session.query(f"CREATE TABLE {t} (i UInt32, x String) ENGINE = Memory")
        self.session.query(f"INSERT INTO {t} SELECT i, x FROM Python(rows)")
        self.tables[name] = t, len(x)

    def run(self, function, name, rows):
        t, all = self.tables[name]
        if rows != all:
            raise ValueError("the whole column, please")
        return self.session.query(f"SELECT {SQL.get(function, 'x')} FROM {t} SETTINGS max_threads = {self.threads}", "Null")

    def digests(self, function, name, rows, result):
        t, _ = self.tables[name]
        out = self.session.query(
            f"SELECT h FROM (SELECT i, {SQL[function]} AS h FROM {t}) ORDER BY i SETTINGS max_threads = {self.threads}", "ArrowStream"
        )
        return pa.ipc.open_stream(out.bytes()).read_all()["h"]
