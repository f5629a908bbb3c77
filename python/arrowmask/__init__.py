"""Hash and mask columns of Arrow data.

>>> import arrowmask, pyarrow as pa
>>> arrowmask.sha2(pa.array(["abc", None]), 256)

Functions of columns are in this module (`sha2`, `mask_hash`, `eval`, ...);
`Masker` shows tables as Ranger policies let them be seen; `arrowmask.duckdb`,
`arrowmask.datafusion`, `arrowmask.spark` and `arrowmask.polars` put the functions
into those engines.

The shared library is loaded at the first call, not at import: a process that
forks workers must not have called anything before it forks, or the calls of its
children raise `Error`.
"""

from __future__ import annotations

import json as _json
from ctypes import byref as _byref, c_void_p as _c_void_p
from typing import Any as _Any

from . import _abi
from ._abi import Error, library_path
from ._capsule import Array, Stream
from ._kernel import Kernel, Keyring
from .functions import (
    digest,
    eval,
    hex,
    hmac,
    mask,
    mask_first_n,
    mask_hash,
    mask_hmac,
    mask_last_n,
    mask_null,
    mask_show_first_n,
    mask_show_last_n,
    md5,
    sha1,
    sha2,
    sha256,
    sha512,
)
from .policy import Masker, Policy


def report() -> dict[str, _Any]:
    """Build, platform, FIPS state and the backend of every digest."""
    text = _abi.take_text(_abi.library().arrowmask_report())
    if not text:
        raise Error(0, "no report: the library was loaded before this process was forked, or memory is out")
    return _json.loads(text)


def selftest() -> str:
    """Runs the known answers on every backend; returns lines for a person and
    raises Error when one fails."""
    out = _c_void_p()
    code = _abi.library().arrowmask_selftest(_byref(out))
    text = _abi.take_text(out.value)
    if code:
        raise Error(code, text)
    return text


__all__ = [
    "Array", "Error", "Kernel", "Keyring", "Masker", "Policy", "Stream",
    "digest", "eval", "hex", "hmac", "library_path", "mask", "mask_first_n", "mask_hash", "mask_hmac",
    "mask_last_n", "mask_null", "mask_show_first_n", "mask_show_last_n", "md5", "report", "selftest",
    "sha1", "sha2", "sha256", "sha512",
]  # fmt: skip
