"""The Arrow PyCapsule interface, in and out.

https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_void_p, py_object

from . import _abi

_api = ctypes.pythonapi
_api.PyCapsule_GetPointer.restype = c_void_p
_api.PyCapsule_GetPointer.argtypes = [py_object, c_char_p]
_api.PyCapsule_New.restype = py_object
_api.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]

_NAMES = {_abi.Schema: b"arrow_schema", _abi.Array: b"arrow_array", _abi.Stream: b"arrow_array_stream"}

# The structures that capsules point at, by address. A capsule's end finds its
# structure here: it must not touch the capsule, which is being freed.
_held: dict[int, ctypes.Structure] = {}


def pointer(capsule: object, kind: type[ctypes.Structure]) -> ctypes.Structure:
    """The structure behind a capsule; valid while the capsule is."""
    return kind.from_address(_api.PyCapsule_GetPointer(capsule, _NAMES[kind]))


@ctypes.PYFUNCTYPE(None, c_void_p)
def _end(capsule: int) -> None:
    for name in _NAMES.values():
        if _is_valid(capsule, name):
            struct = _held.pop(_address(capsule, name), None)
            if struct is not None:
                _abi.release(struct)
            return


# The same functions for a capsule that is known by address only.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", _api))
_address = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", _api))


def capsule(struct: ctypes.Structure) -> object:
    """A capsule that owns the structure."""
    address = ctypes.addressof(struct)
    _held[address] = struct
    return _api.PyCapsule_New(address, _NAMES[type(struct)], ctypes.cast(_end, c_void_p))


def borrowed(struct: ctypes.Structure) -> object:
    """A capsule that owns nothing: the structure must outlive it."""
    return _api.PyCapsule_New(ctypes.addressof(struct), _NAMES[type(struct)], None)


class Array:
    """A column that a call returned. Any Arrow library reads it:
    `pyarrow.array(x)`, `polars.Series(x)`, `nanoarrow.Array(x)`."""

    def __init__(self, schema: _abi.Schema, array: _abi.Array) -> None:
        self._schema, self._array = schema, array

    def __len__(self) -> int:
        return self._array.length

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        schema, array = _abi.Schema(), _abi.Array()
        code = _abi.library().arrowmask_array_copy(
            ctypes.addressof(self._schema), ctypes.addressof(self._array), ctypes.addressof(schema), ctypes.addressof(array)
        )
        if code:
            raise _abi.Error(code, "the array cannot be copied")
        return capsule(schema), capsule(array)

    def __del__(self) -> None:
        _abi.release(self._schema)
        _abi.release(self._array)


class Stream:
    """Chunks or batches that a call returns as they are asked for. It can be
    read once: `pyarrow.chunked_array(x)`, `pyarrow.table(x)`, `polars.DataFrame(x)`."""

    def __init__(self, stream: _abi.Stream) -> None:
        self._stream: _abi.Stream | None = stream

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        stream, self._stream = self._stream, None
        if stream is None:
            raise ValueError("the stream was read already")
        return capsule(stream)

    def __del__(self) -> None:
        if self._stream is not None:
            _abi.release(self._stream)


def take_stream(x: object) -> tuple[_abi.Stream, object]:
    """The stream of an object, with the capsule that must outlive its use."""
    if hasattr(x, "__arrow_c_stream__"):
        c = x.__arrow_c_stream__()
    else:
        raise TypeError(f"{type(x).__name__} has neither __arrow_c_array__ nor __arrow_c_stream__")
    return pointer(c, _abi.Stream), c


def like(result: Array | Stream, x: object) -> object:
    """The result in the library that x is of; itself where that is none known."""
    module = type(x).__module__.partition(".")[0]
    if module == "pyarrow":
        import pyarrow as pa

        if isinstance(result, Array):
            return pa.array(_Once(result))
        if isinstance(x, pa.Table):
            return pa.table(result)
        if isinstance(x, pa.ChunkedArray):
            return pa.chunked_array(result)
        return pa.RecordBatchReader.from_stream(result)
    if module == "polars":
        import polars as pl

        return pl.DataFrame(result) if isinstance(x, pl.DataFrame) else pl.Series(result)
    return result


class _Once:
    """Hands an array over without a copy."""

    def __init__(self, array: Array) -> None:
        self._from = array

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        schema, array = self._from._schema, self._from._array
        self._from._schema, self._from._array = _abi.Schema(), _abi.Array()
        return capsule(schema), capsule(array)
