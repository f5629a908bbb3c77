"""DataFusion: a query over record batches, its result collected as record
batches. It has no SHA-1."""

import datafusion
import pyarrow as pa

SQL = {"md5": "md5(x)", "sha256": "encode(sha256(x), 'hex')", "sha512": "encode(sha512(x), 'hex')"}


class Engine:
    name = "datafusion"
    functions = (*SQL, "scan")

    def __init__(self, threads):
        self.threads = threads
        self.version = datafusion.__version__
        self.session = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(threads))
        self.rows = {}

    def load(self, name, x):
        # As many partitions as threads, in batches as the engine makes them.
        batches = pa.table({"x": x}).to_batches(max_chunksize=8192)
        each = -(-len(batches) // self.threads)
        parts = [batches[i : i + each] for i in range(0, len(batches), each)]
        self.session.register_record_batches(table(name), parts)
        self.rows[name] = len(x)

    def run(self, function, name, rows):
        whole(rows, self.rows[name])
        return self.session.sql(f"SELECT {SQL.get(function, 'x')} AS h FROM {table(name)}").collect_partitioned()

    def digests(self, function, name, rows, result):
        return pa.Table.from_batches([batch for part in result for batch in part])["h"]


def table(column):
    return "t" + column.replace("-", "_")


def whole(rows, all):
    if rows != all:
        raise ValueError("the whole column, please")
