"""What the functions look like to an SQL engine."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from ._abi import Error
from ._kernel import expression, kernel

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


def functions(prefix: str, extra: Mapping[str, str] | None, options: dict[str, Any]) -> list[tuple[str, int, Callable[..., Any]]]:
    """Names, numbers of arguments, and functions of pyarrow arrays. extra are
    expressions over {col} by the name that they get."""
    out: list[tuple[str, int, Callable[..., Any]]] = []
    for name in UNARY:
        out.append((prefix + name, 1, kernel(expression(name), **options)))
    for name in WITH_NUMBER:
        out.append((prefix + name, 2, WithNumber(name, options)))
    for name, expr in (extra or {}).items():
        out.append((name, 1, kernel(expr, **options)))
    return out


class WithNumber:
    """A function whose second argument is a number, the same in every row of a
    batch. It can be pickled."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self.name, self.options = name, options

    def __call__(self, x: Any, number: Any) -> Any:
        return kernel(expression(self.name, constant(number)), **self.options)(x)
