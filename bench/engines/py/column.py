"""Columns come in as files in bench's form, digests go out as bytes."""

import struct

import pyarrow as pa


def read(path):
    """The column of a file: the number of rows and of bytes (int64), the offsets
    (int32, one more than rows) and the bytes."""
    with open(path, "rb") as f:
        rows, size = struct.unpack("<qq", f.read(16))
        offsets, data = f.read(4 * (rows + 1)), f.read(size)
    x = pa.StringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(data))
    x.validate(full=True)
    return x


def write_digests(path, digests):
    """Writes hexadecimal digests, any array or chunked array of text, one after the
    other."""
    chunks = digests.chunks if isinstance(digests, pa.ChunkedArray) else [digests]
    with open(path, "wb") as f:
        for chunk in chunks:
            text = chunk.cast(pa.large_string())
            if text.null_count:
                raise ValueError("a digest is NULL")
            _, offsets, data = text.buffers()
            first, last = (struct.unpack_from("<q", offsets, 8 * (text.offset + i))[0] for i in (0, len(text)))
            f.write(memoryview(data)[first:last])
