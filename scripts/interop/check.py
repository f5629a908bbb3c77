"""Checks files between arrowmask and other implementations of Arrow and Parquet.

For every pair of formats a table is written by pyarrow, masked by arrowmask
and read back by pyarrow, and by polars where it reads the format. Masked
columns are compared with hashlib and with the mask rules restated here;
every other column must be equal to the input.

usage: check.py PATH_TO_ARROWMASK
"""

import datetime
import decimal
import hashlib
import itertools
import pathlib
import subprocess
import sys
import tempfile

import duckdb
import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

BIN = sys.argv[1]
EXTENSION = {"parquet": ".parquet", "arrow": ".arrow", "arrow-stream": ".arrows", "csv": ".csv"}
passed = failed = 0


def check(ok, what):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAIL", what)


def run(*args):
    done = subprocess.run([BIN, *map(str, args)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"arrowmask {' '.join(map(str, args))}: exit {done.returncode}: {done.stderr.strip()}")
    return done


def table(rows, nulls=True):
    """Every scalar type that all four formats can carry in some form."""
    names = ["Zoë Müller", "李小龍", "O'Brien", "", "a,b", 'say "hi"', "line\nbreak", "Ωmega", "x"]

    def every(i, value, step):
        return None if nulls and i % step == step - 1 else value

    return pa.table({
        "id": pa.array(range(rows), pa.int64()),
        "name": pa.array([every(i, names[i % len(names)], 5) for i in range(rows)], pa.string()),
        "email": pa.array([every(i, f"user{i}@example.com", 7) for i in range(rows)], pa.string()),
        "note": pa.array([every(i, names[(i * 7) % len(names)] * 3, 4) for i in range(rows)], pa.large_string()),
        "country": pa.array([every(i, ["NO", "DE", "JP"][i % 3], 6) for i in range(rows)], pa.string()),
        "born": pa.array([every(i, datetime.date(1950, 1, 1) + datetime.timedelta(days=i * 37), 8) for i in range(rows)], pa.date32()),
        "score": pa.array([every(i, i / 4, 9) for i in range(rows)], pa.float64()),
        "ok": pa.array([every(i, i % 2 == 0, 3) for i in range(rows)], pa.bool_()),
        "balance": pa.array([every(i, decimal.Decimal(i * 13) / 100, 5) for i in range(rows)], pa.decimal128(12, 2)),
        "seen": pa.array([every(i, datetime.datetime(2024, 2, 29, 12) + datetime.timedelta(seconds=i), 11) for i in range(rows)], pa.timestamp("us")),
    })


def write(t, path, fmt, compression=None):
    if fmt == "parquet":
        pq.write_table(t, path, compression=compression or "snappy")
    elif fmt == "csv":
        # Text columns only: a CSV cell is text to arrowmask.
        with open(path, "w", newline="", encoding="utf-8") as f:
            f.write(",".join(t.column_names) + "\n")
            for row in t.to_pylist():
                f.write(",".join(csv_cell(v) for v in row.values()) + "\n")
    else:
        options = pa.ipc.IpcWriteOptions(compression=compression)
        make = pa.ipc.new_file if fmt == "arrow" else pa.ipc.new_stream
        with make(path, t.schema, options=options) as w:
            w.write_table(t, max_chunksize=7 if t.num_rows < 1000 else None)


def csv_cell(v):
    """A bare empty cell is NULL, a quoted one the empty string."""
    if v is None:
        return ""
    text = str(v)
    if text == "" or any(c in text for c in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def read(path, fmt):
    if fmt == "parquet":
        return pq.read_table(path)
    if fmt == "csv":
        options = pa.csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""])
        header = open(path, encoding="utf-8").readline().strip().split(",")
        options.column_types = {name.strip('"'): pa.string() for name in header}
        return pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(newlines_in_values=True), convert_options=options)
    make = pa.ipc.open_file if fmt == "arrow" else pa.ipc.open_stream
    with make(path) as r:
        return r.read_all()


def read_polars(path, fmt):
    if fmt == "parquet":
        return polars.read_parquet(path).to_arrow()
    if fmt == "arrow":
        return polars.read_ipc(path).to_arrow()
    if fmt == "arrow-stream":
        return polars.read_ipc_stream(path).to_arrow()
    return None


def sha256(v):
    return None if v is None else hashlib.sha256(v.encode()).hexdigest()


def show_first(v, n):
    """The safe dialect's mask_show_first_n on letters, digits and the rest."""
    if v is None:
        return None
    out = []
    for i, c in enumerate(v):
        if i < n:
            out.append(c)
        elif c.isupper() or c.istitle():
            out.append("X")
        elif c.isalpha():
            out.append("x")
        elif c.isnumeric():
            out.append("n")
        else:
            out.append(c)
    return "".join(out)


MASKS = {"email": ("mask_hash({col})", sha256), "note": ("mask_show_first_n({col}, 2)", lambda v: show_first(v, 2))}


def compare(label, before, after):
    check(before.num_rows == after.num_rows, f"{label}: {before.num_rows} rows became {after.num_rows}")
    check(before.column_names == after.column_names, f"{label}: columns {after.column_names}")
    if before.num_rows != after.num_rows or before.column_names != after.column_names:
        return
    for name in before.column_names:
        old, new = before[name].to_pylist(), after[name].to_pylist()
        if name in MASKS:
            old = [MASKS[name][1](v) for v in old]
        check(old == new, f"{label}: column {name} differs")


def as_text(t):
    """The table as CSV carries it: every value as text."""
    def text(v):
        if v is None:
            return None
        if isinstance(v, bool):
            return "true" if v else "false"
        return str(v)
    return pa.table({n: pa.array([text(v) for v in t[n].to_pylist()], pa.string()) for n in t.column_names})


def sets():
    return list(itertools.chain.from_iterable(("--set", f"{c}={e}") for c, (e, _) in MASKS.items()))


def pairs(folder):
    for src, dst in itertools.product(EXTENSION, EXTENSION):
        for rows in (0, 1, 9, 10, 65, 5000):
            t = table(rows)
            if src == "csv":
                t = as_text(t)
            a, b = folder / f"in{EXTENSION[src]}", folder / f"out{EXTENSION[dst]}"
            write(t, a, src)
            run("mask", a, "-o", b, "--overwrite", *sets())
            run("verify", a, b, *sets())
            label = f"{src} to {dst}, {rows} rows"
            if dst == "csv" and src != "csv":
                # How numbers and times are spelled in CSV is arrowmask's own
                # rule; the text columns must agree with another reader's view.
                keep = ["name", "email", "note", "country", "born"]
                compare(label, as_text(t.select(keep)), read(b, dst).select(keep))
            else:
                compare(label, t, read(b, dst))
            other = read_polars(b, dst)
            if other is not None:
                keep = [n for n in t.column_names if n != "seen"]
                compare(label + " (polars)", t.select(keep), other.select(keep))


def compressions(folder):
    """B32: compressed IPC with nulls, empty buffers and tiny buffers, both ways."""
    for fmt, codec, rows, nulls in itertools.product(("arrow", "arrow-stream"), (None, "lz4", "zstd"), (0, 1, 9, 10, 65), (True, False)):
        t = table(rows, nulls)
        t = t.append_column("empty", pa.array([""] * rows, pa.string())).append_column("nothing", pa.array([None] * rows, pa.string()))
        a, b = folder / f"c_in{EXTENSION[fmt]}", folder / f"c_out{EXTENSION[fmt]}"
        write(t, a, fmt, codec)
        args = ["--compression", codec] if codec else []
        run("mask", a, "-o", b, "--overwrite", *args, *sets())
        label = f"{fmt} {codec or 'uncompressed'}, {rows} rows, nulls={nulls}"
        compare(label, t, read(b, fmt))
        compare(label + " (polars)", t.select(["id", "name", "email"]), read_polars(b, fmt).select(["id", "name", "email"]))
    for fmt in ("arrow", "arrow-stream"):
        t = table(100)
        a, b = folder / f"p_in{EXTENSION[fmt]}", folder / f"p_out{EXTENSION[fmt]}"
        df = polars.from_arrow(t)
        (df.write_ipc if fmt == "arrow" else df.write_ipc_stream)(a, compression="zstd")
        run("mask", a, "-o", b, "--overwrite", *sets())
        compare(f"{fmt} written by polars", t, read(b, fmt))


def dictionaries(folder):
    """A masked dictionary column stays a dictionary and loses every old value."""
    values = ["secret-one", "secret-two", "secret-three"]
    d = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0, 1], pa.int32()), pa.array(values))
    t = pa.table({"d": d})
    for fmt in ("arrow", "arrow-stream", "parquet"):
        a, b = folder / f"d_in{EXTENSION[fmt]}", folder / f"d_out{EXTENSION[fmt]}"
        write(t, a, fmt)
        run("mask", a, "-o", b, "--overwrite", "--set", "d=mask_hash({col})")
        got = read(b, fmt)["d"].to_pylist()
        check(got == [sha256(v) for v in t["d"].to_pylist()], f"dictionary in {fmt}: values differ")
        check(b"secret" not in b.read_bytes(), f"dictionary in {fmt}: a clear value is in the file")


def shared_files():
    """The reference collection of Parquet files, when it lies beside the repository."""
    root = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data" / "parquet-testing" / "data"
    if not root.is_dir():
        print(f"NOT RUN: the reference files are not at {root}")
    # Readers need minutes and gigabytes for one file with a page of 1 GiB.
    return [p for p in sorted(root.glob("**/*.parquet")) if p.name != "large_string_map.brotli.parquet"]


def attempt(read_file, path):
    """What a reader makes of a file, or None when it cannot read it."""
    try:
        return read_file(path)
    except Exception:
        return None


def duck(path):
    return duckdb.connect().execute("SELECT * FROM read_parquet(?)", [str(path)]).fetch_arrow_table()


READERS = {"pyarrow": pq.read_table, "polars": lambda p: polars.read_parquet(p).to_arrow(), "duckdb": duck}


def rewrite(a, b, column):
    """Masks one column, or none, and verifies; False when arrowmask refuses the file."""
    sets = [] if column is None else ["--set", '"' + column.replace('"', '""') + '"=mask_hash({col})']
    try:
        run("mask", a, "-o", b, "--overwrite", *(sets or ["--pass-through"]))
    except RuntimeError:
        return False
    run("verify", a, b, *sets)
    return True


def shown(column):
    """All values as text, NaN too; timestamps that Python cannot hold as pyarrow prints them."""
    try:
        return repr(column.to_pylist())
    except (ValueError, OverflowError):
        return column.combine_chunks().to_string(window=column.length() + 1)


def same_as_before(label, a, b, column):
    """Every reader that reads the old file reads the new one, equal but for the masked column."""
    for name, reader in READERS.items():
        before = attempt(reader, a)
        if before is None:
            continue
        after = attempt(reader, b)
        check(after is not None, f"{label}: {name} cannot read the new file")
        if after is None:
            continue
        check(before.column_names == after.column_names and before.num_rows == after.num_rows, f"{label}: {name}: other columns or rows")
        for i, c in enumerate(before.column_names):
            old, new = before.column(i), after.column(i)
            if c == column:
                check([sha256(v) for v in old.to_pylist()] == new.to_pylist(), f"{label}: {name}: masked column {c}")
            else:
                check(old.type == new.type and shown(old) == shown(new), f"{label}: {name}: column {c} differs")


def copied_chunks(folder):
    """Parquet to Parquet, where columns that are not masked are copied."""
    b = folder / "copied.parquet"
    tried = 0
    for a in shared_files():
        column = None
        before = attempt(pq.read_table, a)
        if before is not None:
            column = next((f.name for f in before.schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)), None)
        if rewrite(a, b, column):
            tried += 1
            same_as_before(a.name, a, b, column)
    print(f"{tried} reference files copied")
    t = table(5000).append_column("kind", pa.array([["a", "b", None, "longer"][i % 4] for i in range(5000)], pa.string()))
    sorting = pq.SortingColumn.from_ordering(t.schema, [("id", "ascending"), ("email", "ascending")])
    for codec, version, dictionary, index in itertools.product(("none", "snappy", "gzip", "brotli", "zstd", "lz4"), ("1.0", "2.0"), (True, False), (True, False)):
        a = folder / "rewrite_in.parquet"
        pq.write_table(t, a, compression=codec, data_page_version=version, use_dictionary=dictionary, write_page_index=index,
                       row_group_size=1700, data_page_size=5000, write_page_checksum=True, sorting_columns=sorting)
        for column in ("email", "kind", "note"):
            label = f"copied {codec} v{version} dictionary={dictionary} index={index} {column}"
            check(rewrite(a, b, column), f"{label}: refused")
            same_as_before(label, a, b, column)
            check(pq.read_table(b, page_checksum_verification=True).num_rows == 5000, f"{label}: checksums")
            filters(label, a, b)


def filters(label, a, b):
    """Statistics and page indexes still lead to the right rows."""
    for low in (0, 1699, 1700, 4000):
        query = "SELECT id, name FROM read_parquet(?) WHERE id BETWEEN ? AND ? ORDER BY id"
        old, new = (duckdb.connect().execute(query, [str(p), low, low + 40]).fetchall() for p in (a, b))
        check(len(old) == 41 and old == new, f"{label}: duckdb with a filter from {low}")
        old, new = (polars.scan_parquet(p).filter(polars.col("id").is_between(low, low + 40)).select("id", "name").collect().rows() for p in (a, b))
        check(len(old) == 41 and old == new, f"{label}: polars with a filter from {low}")


def masked_filters(folder):
    """The new statistics of a masked column do not hide rows."""
    a, b = folder / "stats_in.parquet", folder / "stats_out.parquet"
    t = pa.table({"kind": pa.array([f"kind {i // 500}" for i in range(4000)], pa.string()), "single": pa.array([f"u{i}" for i in range(4000)], pa.string())})
    pq.write_table(t, a, row_group_size=1000, data_page_size=2000, write_page_index=True)
    for column, value in (("kind", "kind 3"), ("single", "u2718")):
        check(rewrite(a, b, column), f"filter on masked {column}: refused")
        want = t[column].to_pylist().count(value)
        n = duckdb.connect().execute(f"SELECT count(*) FROM read_parquet(?) WHERE {column} = ?", [str(b), sha256(value)]).fetchone()[0]
        check(n == want, f"filter on masked {column}: duckdb finds {n} of {want}")
        n = polars.scan_parquet(b).filter(polars.col(column) == sha256(value)).collect().height
        check(n == want, f"filter on masked {column}: polars finds {n} of {want}")
        n = pq.read_table(b, filters=[(column, "=", sha256(value))]).num_rows
        check(n == want, f"filter on masked {column}: pyarrow finds {n} of {want}")


def main():
    print(f"pyarrow {pa.__version__}, polars {polars.__version__}, duckdb {duckdb.__version__}")
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        pairs(folder)
        compressions(folder)
        dictionaries(folder)
        copied_chunks(folder)
        masked_filters(folder)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


main()
