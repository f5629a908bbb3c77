"""Builds the wheel (PEP 517) with nothing but the standard library.

The shared library comes from the environment variable ARROWMASK_LIBRARY, or
lies in the package already; scripts/wheel.sh builds it first.
"""

import base64
import hashlib
import os
import pathlib
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
#: The library's name in the wheel: the one under which DuckDB loads it, too. A
#: process must not load two copies, so there is only one.
NAME = "arrowmask.duckdb_extension"


def _project():
    """The [project] strings of pyproject.toml, which has no others."""
    fields, table = {}, ""
    for line in (HERE / "pyproject.toml").read_text().splitlines():
        if line.startswith("["):
            table = line
        elif table == "[project]" and " = " in line:
            key, value = line.split(" = ", 1)
            fields[key] = value.strip('"')
    return fields


def _library():
    path = pathlib.Path(os.environ.get("ARROWMASK_LIBRARY") or HERE / "arrowmask" / NAME)
    if path.is_file():
        return path
    raise SystemExit("the shared library is not there: run scripts/wheel.sh, or set ARROWMASK_LIBRARY")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    p, library = _project(), _library()
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"py3-none-{platform}"
    info = f"{p['name']}-{p['version']}.dist-info"
    metadata = (
        f"Metadata-Version: 2.4\nName: {p['name']}\nVersion: {p['version']}\nSummary: {p['description']}\n"
        f"License-Expression: {p['license']}\nRequires-Python: {p['requires-python']}\n"
        f"Description-Content-Type: text/markdown\n\n{(HERE / 'README.md').read_text()}"
    )
    files = {f"arrowmask/{f.name}": f.read_bytes() for f in sorted((HERE / "arrowmask").glob("*")) if f.suffix == ".py" or f.name == "py.typed"}
    files[f"arrowmask/{NAME}"] = library.read_bytes()
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: arrowmask\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    name = f"{p['name']}-{p['version']}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    return name
