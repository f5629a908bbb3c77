"""What the functions look like to an SQL engine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable, Mapping

from ._abi import Error
from ._kernel import Kernel, expression, kernel

#: Functions of text alone, and those with one more number, by name.
UNARY = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "hex", "mask", "mask_hash", "mask_null")
WITH_NUMBER = ("sha2", "mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n")


def constant(column: Any) -> Any:
    """The one value of an argument that an engine sends as a column."""
    if hasattr(column, "as_py"):
        return column.as_py()
    if len(column) == 0:
        return None
    distinct = column.unique()
    if len(distinct) != 1:
        raise Error(22, "the second argument must be the same for every row")
    return distinct[0].as_py()


class WithNumber:
    """A function whose second argument is a number, the same in every row of a
    batch. It can be pickled."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self.name, self.options = name, options

    def __call__(self, x: Any, number: Any) -> Any:
        return kernel(expression(self.name, constant(number)), **self.options)(x)


#: What a function of the caller's is made from: an expression over text, or an
#: expression and the type of its columns, or the type of each by name.
Spec = Any

#: Names of SQL types that pyarrow spells otherwise.
_SQL_TYPES = {
    "boolean": "bool", "tinyint": "int8", "smallint": "int16", "integer": "int32", "int": "int32", "bigint": "int64",
    "real": "float", "varchar": "string", "text": "string", "blob": "binary", "bytea": "binary", "date": "date32",
    "timestamp": "timestamp[us]",
}  # fmt: skip


def arrow_type(given: Any) -> Any:
    """pyarrow's type for itself, for its name, or for the name of SQL."""
    import pyarrow as pa

    if isinstance(given, pa.DataType):
        return given
    name = str(given).lower()
    decimal = re.fullmatch(r"decimal\((\d+), *(\d+)\)", name)
    if decimal:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    return pa.type_for_alias(_SQL_TYPES.get(name, name))


@dataclass(frozen=True)
class Function:
    """A function as an engine gets to know it: of pyarrow arrays of these types."""

    name: str
    types: tuple[Any, ...]
    result: Any
    call: Callable[..., Any]


def declared(prefix: str, extra: Mapping[str, Spec] | None, options: dict[str, Any]) -> list[Function]:
    """The functions of text under their names with a prefix, and those of the
    caller's under their own."""
    import pyarrow as pa

    out = [Function(prefix + name, (pa.string(),), pa.string(), kernel(expression(name), **options)) for name in UNARY]
    out += [Function(prefix + name, (pa.string(), pa.int64()), pa.string(), WithNumber(name, options)) for name in WITH_NUMBER]
    return out + [own(name, spec, options) for name, spec in (extra or {}).items()]


def own(name: str, spec: Spec, options: dict[str, Any]) -> Function:
    """A function of the caller's. Its columns come in the order of their types by
    name, or else in that in which the expression names them."""
    import pyarrow as pa

    expr, types = (spec, "string") if isinstance(spec, str) else spec
    f = kernel(expr, **options)
    if not isinstance(types, Mapping):
        types = dict.fromkeys(f.columns, types)
    if set(types) != set(f.columns):
        raise TypeError(f"{name}: types of {', '.join(types)}, the expression names {', '.join(f.columns)}")
    types = {column: arrow_type(t) for column, t in types.items()}
    result = f.result_type([types[column] for column in f.columns])
    if pa.types.is_fixed_size_binary(result):
        result = pa.binary()  # what engines have
    return Function(name, tuple(types.values()), result, Own(f, types, result))


class Own:
    """A function of the caller's. It can be pickled."""

    def __init__(self, f: Kernel, types: dict[str, Any], result: Any) -> None:
        self.f, self.types, self.result = f, types, result

    def __call__(self, *columns: Any) -> Any:
        if len(columns) != len(self.types):
            raise Error(22, f"{len(columns)} arguments for the columns {', '.join(self.types)}")
        given = {name: _cast(x, t) for x, (name, t) in zip(columns, self.types.items())}
        return _cast(self.f(given), self.result)


def _cast(x: Any, t: Any) -> Any:
    return x if x.type == t else x.cast(t)
