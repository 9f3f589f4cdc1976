"""Opens a document on an SMB server as an office program does; a program of its own.

It runs under the system's interpreter with the module python3-samba, and reads from its standard
input, line by line: smb.conf, server, share, document, where its bytes go, user, password.

The trace (docs/files.md): 1. look the document up; 2. open it for reading and deny writing to
others, which is the lock of an office program; 3. read its first 512 bytes, by which the format is
known; 4. read its last 4 KiB, where a compound file has its directory; 5. read 64 pieces of 4 KiB
that are spread over it evenly, as tables and properties are; 6. read it from the beginning to the
end in pieces of 32 KiB, each when the one before has come; 7. close it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HEAD, TAIL, PIECE, PIECES, BLOCK = 512, 4096, 4096, 64, 32768

READ_DATA_AND_ATTRIBUTES = 0x00120089
"""[MS-SMB2] 2.2.13.1.1: FILE_GENERIC_READ."""
SHARE_READ = 1
OPEN = 1


def reads(size: int) -> list[tuple[int, int]]:
    """Offset and length of each read of the trace, for a document of `size` bytes."""
    spread = [
        (min(size * number // PIECES, max(0, size - PIECE)), min(PIECE, size))
        for number in range(PIECES)
    ]
    whole = [(at, min(BLOCK, size - at)) for at in range(0, size, BLOCK)]
    tail = min(TAIL, size)
    return [(0, min(HEAD, size)), (size - tail, tail), *spread, *whole]


def main() -> None:
    from samba import credentials, param  # type: ignore[import-not-found]  # noqa: PLC0415
    from samba.samba3 import libsmb_samba_internal as library  # type: ignore  # noqa: PLC0415
    from samba.samba3 import param as other  # noqa: PLC0415

    file, server, share, name, into, user, password = sys.stdin.read().splitlines()
    other.get_context().load(file)
    context = param.LoadParm(filename_for_non_global_lp=file)
    who = credentials.Credentials()
    who.guess(context)
    who.set_username(user)
    who.set_password(password)
    who.set_kerberos_state(credentials.DONT_USE_KERBEROS)
    connection: Any = library.Conn(server, share, other.get_context(), who)
    sizes = [entry["size"] for entry in connection.list("", name) if entry["name"] == name]
    if not sizes:
        sys.exit(f"NT_STATUS_NO_SUCH_FILE: {name}")
    size = sizes[0]
    handle = connection.create(
        name, DesiredAccess=READ_DATA_AND_ATTRIBUTES, ShareAccess=SHARE_READ,
        CreateDisposition=OPEN,
    )  # fmt: skip
    with Path(into).open("wb") as out:
        for offset, length in reads(size):
            data = connection.read(handle, offset, length)
            while len(data) < length:
                more = connection.read(handle, offset + len(data), length - len(data))
                if not more:
                    sys.exit(f"the document ends at {offset + len(data)} and not at {size}")
                data += more
            out.seek(offset)
            out.write(data)
    connection.close(handle)


def words(error: Exception) -> str:
    """What went wrong; an NT status by the name that smbclient would print, and not its number."""
    if type(error).__name__ != "NTSTATUSError":
        return f"{type(error).__name__}: {error}"
    from samba import ntstatus  # noqa: PLC0415

    code, text = error.args
    names = (name for name in dir(ntstatus) if name.startswith("NT_STATUS_"))
    known = (name for name in names if getattr(ntstatus, name) == code)
    return f"{next(known, f'NT status 0x{code:08X}')}: {text}"


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        sys.exit(words(error))
