"""A wheel: a zip of a package's files with a record of them. The same files give the same bytes."""

from __future__ import annotations

import base64
import hashlib
import io
import stat
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

from headwright.errors import InputError

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip knows
_ABOUT = "Wheel-Version: 1.0\nGenerator: headwright\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@dataclass(frozen=True)
class Wheel:
    """`file` is its name on disk, which says for which Python and system it is."""

    file: str
    data: bytes

    @property
    def name(self) -> str:
        return normal(self.file.split("-")[0])

    @property
    def version(self) -> str:
        return self.file.split("-")[1]

    @property
    def pythons(self) -> tuple[str, ...]:
        """The versions of Python it is bound to, as in 3.11; none where later ones will do."""
        python, abi = self.file.split("-")[-3:-1]
        bound = [tag[2:] for tag in python.split(".") if abi.startswith("cp")]
        return tuple(f"{tag[0]}.{tag[1:]}" for tag in bound)

    @property
    def system(self) -> str:
        return self.file.rpartition("-")[2].removesuffix(".whl")

    @property
    def metadata(self) -> str:
        try:
            with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
                names = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
                return archive.read(names[0]).decode("utf-8", "replace")
        except (zipfile.BadZipFile, IndexError, OSError, ValueError) as reason:
            raise InputError(
                wanted=f"the metadata of {self.file}",
                got=f"a damaged wheel ({reason})",
                attempt="download it again",
            ) from None


def normal(name: str) -> str:
    """One spelling for Array_API.compat and array-api-compat."""
    return name.lower().replace("_", "-").replace(".", "-")


def written(name: str, version: str, tags: list[str], files: Mapping[str, bytes]) -> Wheel:
    """A wheel of files that include METADATA and WHEEL; the record is made here."""
    stem = f"{name.replace('-', '_')}-{version}"
    record = f"{stem}.dist-info/RECORD"
    rows = [_row(path, data) for path, data in sorted(files.items())]
    whole = {**files, record: "\n".join([*rows, f"{record},,", ""]).encode("utf-8")}
    return Wheel(f"{stem}-{_joined(tags)}.whl", zipped(whole, zipfile.ZIP_DEFLATED))


def pure(name: str, version: str, files: Mapping[str, bytes]) -> Wheel:
    """A wheel of Python files alone."""
    folder = f"{name}-{version}.dist-info"
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    known = {f"{folder}/METADATA": about.encode(), f"{folder}/WHEEL": _ABOUT.encode()}
    return written(name, version, ["py3-none-any"], {**files, **known})


def zipped(
    files: Mapping[str, bytes], compression: int, executable: frozenset[str] = frozenset()
) -> bytes:
    """The bytes of a zip that keeps who may run what."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(path, _LONG_AGO)
            entry.create_system = 3  # Unix, wherever it is made: permissions are read only then
            mode = stat.S_IFREG | (0o755 if path in executable else 0o644)
            entry.external_attr = mode << 16
            archive.writestr(entry, data, compression)
    return out.getvalue()


def _row(path: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
    return f"{path},sha256={digest.decode('ascii')},{len(data)}"


def _joined(tags: list[str]) -> str:
    """cp311-cp311-manylinux_2_27_x86_64 and ..._2_28_x86_64 as one, the way file names have it."""
    columns = zip(*(tag.split("-") for tag in tags), strict=True)
    return "-".join(".".join(dict.fromkeys(column)) for column in columns)
