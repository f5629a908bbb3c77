"""The C interface: structures, the library, errors. See arrowmask.h."""

from __future__ import annotations

import ctypes
import os
import pathlib
import threading
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int64, c_size_t, c_void_p

ABI_VERSION = 1
# The name under which DuckDB loads the library, too, then those for other hosts.
_NAMES = ("arrowmask.duckdb_extension", "libarrowmask.so", "libarrowmask.dylib", "arrowmask.dll")


class Error(Exception):
    """A call failed. `code` is the number of the C interface (an errno)."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text or os.strerror(code))
        self.code = code

    def __reduce__(self):
        return Error, (self.code, self.args[0])


class Schema(Structure):
    """struct ArrowSchema"""


class Array(Structure):
    """struct ArrowArray"""


class Stream(Structure):
    """struct ArrowArrayStream"""


Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_void_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", c_void_p),
    ("dictionary", c_void_p),
    ("release", c_void_p),
    ("private_data", c_void_p),
]
Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", c_void_p),
    ("children", c_void_p),
    ("dictionary", c_void_p),
    ("release", c_void_p),
    ("private_data", c_void_p),
]
Stream._fields_ = [
    ("get_schema", c_void_p),
    ("get_next", c_void_p),
    ("get_last_error", c_void_p),
    ("release", c_void_p),
    ("private_data", c_void_p),
]

_release = ctypes.CFUNCTYPE(None, c_void_p)
_get_schema = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)


def release(struct: Structure) -> None:
    """Release a structure that is not released yet."""
    if struct.release:
        _release(struct.release)(ctypes.addressof(struct))


def stream_schema(stream: Stream) -> Schema:
    """The schema of a stream; the caller releases it."""
    out = Schema()
    code = _get_schema(stream.get_schema)(ctypes.addressof(stream), ctypes.addressof(out))
    if code:
        raise Error(code, "the stream gives no schema")
    return out


_lock = threading.Lock()
_loaded: ctypes.CDLL | None = None


def library_path() -> str:
    """Where the shared library is: ARROWMASK_LIBRARY, or inside the package."""
    named = os.environ.get("ARROWMASK_LIBRARY")
    if named:
        return os.path.abspath(named)
    here = pathlib.Path(__file__).resolve().parent
    for name in _NAMES:
        if (here / name).is_file():
            return str(here / name)
    raise ImportError(f"the arrowmask library is not in {here}; set ARROWMASK_LIBRARY to its path")


def extension_path() -> str | None:
    """The library under the name that DuckDB loads: the same file, since a process
    must not load two copies. None where it has no such name."""
    path = pathlib.Path(library_path())
    named = path.with_name(_NAMES[0])
    return str(named) if named.is_file() and named.samefile(path) else None


def library() -> ctypes.CDLL:
    """The shared library, loaded at the first call in this process."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _load(library_path())
    return _loaded


def _load(path: str) -> ctypes.CDLL:
    lib = ctypes.CDLL(path)
    handle = c_size_t
    for name, result, *args in (
        ("arrowmask_abi_version", c_int),
        ("arrowmask_report", c_void_p),
        ("arrowmask_selftest", c_int, POINTER(c_void_p)),
        ("arrowmask_free", None, c_void_p),
        ("arrowmask_last_error", c_size_t, handle, c_char_p, c_size_t),
        ("arrowmask_release", c_int, handle),
        ("arrowmask_keyring_new", c_int, POINTER(handle)),
        ("arrowmask_keyring_add", c_int, handle, c_char_p, c_char_p, c_size_t),
        ("arrowmask_kernel_new", c_int, c_char_p, handle, POINTER(handle)),
        ("arrowmask_kernel_bind", c_int, handle, c_void_p, c_void_p, c_int64, c_void_p),
        ("arrowmask_kernel_execute", c_int, handle, c_void_p, c_int64, c_int64, c_void_p),
        ("arrowmask_policy_new", c_int, c_char_p, c_char_p, c_size_t, POINTER(handle)),
        ("arrowmask_policy_plan", c_int, handle, c_char_p, c_void_p, POINTER(c_void_p), POINTER(c_size_t)),
        ("arrowmask_masker_new", c_int, c_char_p, handle, c_char_p, c_size_t, c_void_p, POINTER(handle)),
        ("arrowmask_stream", c_int, handle, c_void_p, c_void_p),
        ("arrowmask_array_copy", c_int, c_void_p, c_void_p, c_void_p, c_void_p),
    ):
        f = getattr(lib, name)
        f.restype, f.argtypes = result, args
    if lib.arrowmask_abi_version() != ABI_VERSION:
        raise ImportError(f"{path} has interface version {lib.arrowmask_abi_version()}, not {ABI_VERSION}")
    return lib


def take_text(pointer: int | None) -> str:
    """Copies and frees a text of the library."""
    if not pointer:
        return ""
    text = ctypes.string_at(pointer).decode()
    library().arrowmask_free(pointer)
    return text


class Handle:
    """A handle of the library, released with this object."""

    def __init__(self, create) -> None:
        """create(lib, out) makes the handle and returns a code."""
        self._value = 0
        value = c_size_t()
        code = create(library(), byref(value))
        self._value = value.value
        self.check(code)

    @property
    def value(self) -> int:
        return self._value

    def check(self, code: int) -> None:
        """Raises the latest error of the handle unless code is 0."""
        if code:
            size = library().arrowmask_last_error(self._value, None, 0)
            buf = ctypes.create_string_buffer(size + 1)
            library().arrowmask_last_error(self._value, buf, size + 1)
            raise Error(code, buf.value.decode(errors="replace"))

    def __del__(self) -> None:
        if getattr(self, "_value", 0) and _loaded is not None:
            _loaded.arrowmask_release(self._value)
            self._value = 0

    def __reduce__(self):
        raise TypeError("a handle belongs to its process")
