"""Polars with the plugin polars-hash. The streaming engine splits a column over
threads, the other does not."""

import os


class Engine:
    name = "polars-hash"
    functions = ("md5", "sha1", "sha256", "sha512")

    def __init__(self, threads):
        os.environ["POLARS_MAX_THREADS"] = str(threads)  # read when Polars is imported
        import polars as pl
        import polars_hash

        self.threads = threads
        self.version = f"{pl.__version__}/{polars_hash.__version__}"
        self.engine = "streaming" if threads > 1 else "in-memory"
        self.pl = pl
        x = pl.col("x")
        self.digest = {"md5": x.nchash.md5(), "sha1": x.nchash.sha1(), "sha256": x.chash.sha2_256(), "sha512": x.chash.sha2_512()}
        self.frames = {}

    def load(self, name, x):
        self.frames[name] = self.pl.DataFrame({"x": x})

    def run(self, function, name, rows):
        return self.frames[name].head(rows).lazy().select(self.digest[function]).collect(engine=self.engine)

    def digests(self, function, name, rows, result):
        return result["x"].to_arrow()
