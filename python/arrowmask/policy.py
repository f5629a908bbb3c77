"""Policies: who sees what of a table."""

from __future__ import annotations

import ctypes
import json
import os
from ctypes import byref, c_size_t, c_void_p
from typing import Any, Mapping, Sequence

from . import _abi, _capsule
from ._kernel import Keyring


class Policy(_abi.Handle):
    """Ranger policies, as its admin serves them: a path or the bytes of the JSON.

    `roles`, `users` and `tags` are the texts of the files beside the policies;
    `service_type` names the service definition of a file that has none.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | bytes,
        *,
        service_type: str = "",
        service: str = "",
        roles: str = "",
        users: str = "",
        tags: str = "",
        dialect: str = "",
        zone: str = "",
    ) -> None:
        if isinstance(source, bytes):
            body = source
        else:
            with open(source, "rb") as f:
                body = f.read()
        given = {"service_type": service_type, "service": service, "roles": roles, "users": users, "tags": tags, "dialect": dialect, "zone": zone}
        options = json.dumps({k: v for k, v in given.items() if v}).encode()
        super().__init__(lambda lib, out: lib.arrowmask_policy_new(options, body, len(body), out))

    def plan(
        self,
        schema: Any,
        *,
        user: str,
        table: str,
        groups: Sequence[str] = (),
        roles: Sequence[str] = (),
        attrs: Mapping[str, str] | None = None,
        owner: str = "",
        time: str = "",
        allow_unmatched: bool = False,
    ) -> bytes:
        """What the user sees of a table, decided now, as bytes that any process can
        mask by: `Masker(plan=...)`. `schema` has `__arrow_c_schema__`, as a
        pyarrow.Schema, or is data of that schema."""
        request = {
            "user": user,
            "table": table,
            "groups": list(groups),
            "roles": list(roles),
            "attrs": dict(attrs or {}),
            "owner": owner,
            "time": time,
            "allow_unmatched": allow_unmatched,
        }
        with _SchemaOf(schema) as pointer:
            out, n = c_void_p(), c_size_t()
            self.check(_abi.library().arrowmask_policy_plan(self.value, json.dumps(request).encode(), pointer, byref(out), byref(n)))
            plan = ctypes.string_at(out.value, n.value) if out.value else b""
            _abi.library().arrowmask_free(out)
        return plan


class _SchemaOf:
    """The schema of a schema, or of data, while the block lasts."""

    def __init__(self, x: Any) -> None:
        self._own: _abi.Schema | None = None
        if hasattr(x, "__arrow_c_schema__"):
            self._capsule = x.__arrow_c_schema__()
            self._address = ctypes.addressof(_capsule.pointer(self._capsule, _abi.Schema))
        elif hasattr(x, "__arrow_c_stream__"):
            stream, self._capsule = _capsule.take_stream(x)
            self._own = _abi.stream_schema(stream)
            self._address = ctypes.addressof(self._own)
        else:
            raise TypeError(f"{type(x).__name__} has no Arrow schema")

    def __enter__(self) -> int:
        return self._address

    def __exit__(self, *_: object) -> None:
        if self._own is not None:
            _abi.release(self._own)


class Masker:
    """Shows tables as a policy lets them be seen: rows filtered, columns masked.

    Either decides itself, `Masker(policy="policies.json", user="ann",
    table="shop.customers")`, with the options of `Policy.plan`, or follows a plan
    made elsewhere, `Masker(plan=...)`. It can be pickled when made from a plan
    without keys.
    """

    def __init__(
        self,
        policy: Policy | str | os.PathLike[str] | bytes | None = None,
        *,
        plan: bytes | None = None,
        keys: Keyring | None = None,
        threads: int = 1,
        **request: Any,
    ) -> None:
        if (policy is None) == (plan is None):
            raise ValueError("either policy or plan")
        if plan is not None and request:
            raise ValueError(f"a plan is decided already: {', '.join(request)}")
        self._policy = policy if policy is None or isinstance(policy, Policy) else Policy(policy)
        self._plan, self._keys, self._threads, self._request = plan, keys, threads, request

    def __reduce__(self):
        if self._plan is None or self._keys is not None:
            raise TypeError("only a masker made from a plan without keys can be pickled: ship the plan")
        return _from_plan, (self._plan, self._threads)

    def plan(self, schema: Any) -> bytes:
        """The plan for tables of a schema."""
        return self._plan if self._policy is None else self._policy.plan(schema, **self._request)

    def _masker(self, schema: Any) -> _abi.Handle:
        plan = self.plan(schema)
        options = json.dumps({"threads": self._threads}).encode()
        with _SchemaOf(schema) as pointer:
            return _abi.Handle(
                lambda lib, out: lib.arrowmask_masker_new(options, self._keys.value if self._keys else 0, plan, len(plan), pointer, out)
            )

    def mask(self, table: Any) -> Any:
        """A table as it may be seen: any object with `__arrow_c_stream__`. The
        result is of the same library; a reader is masked as it is read."""
        module = type(table).__module__.partition(".")[0]
        if module == "polars" and hasattr(table, "collect"):
            raise TypeError("collect the LazyFrame first")
        source, capsule = _capsule.take_stream(table)
        schema = _abi.stream_schema(source)
        try:
            handle = self._masker(_Borrowed(schema))
        finally:
            _abi.release(schema)
        out = _abi.Stream()
        handle.check(_abi.library().arrowmask_stream(handle.value, ctypes.addressof(source), ctypes.addressof(out)))
        del capsule
        if module == "pyarrow":
            import pyarrow as pa

            if isinstance(table, pa.RecordBatch):
                result = pa.table(_capsule.Stream(out)).combine_chunks()
                batches = result.to_batches()
                return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=result.schema)
        return _capsule.like(_capsule.Stream(out), table)


class _Borrowed:
    """A schema that somebody else releases."""

    def __init__(self, schema: _abi.Schema) -> None:
        self._schema = schema

    def __arrow_c_schema__(self) -> object:
        return _capsule.borrowed(self._schema)


def _from_plan(plan: bytes, threads: int) -> Masker:
    return Masker(plan=plan, threads=threads)
