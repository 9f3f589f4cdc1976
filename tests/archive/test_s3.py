"""An archive in an S3-compatible store: the same as in a directory, whoever writes beside."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon.archive import compact as compaction
from pentathlon.archive import queries, reading
from pentathlon.archive.adding import add_all
from pentathlon.archive.engines import engine
from pentathlon.archive.log import open_archive
from pentathlon.store.journal import StoreError
from tests.archive.conftest import Make

BUCKET = "bench"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A store that this test starts, on loopback."""
    server = pytest.importorskip("moto.server", reason="moto is not installed")
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    import fsspec  # noqa: PLC0415  where s3fs is
    import s3fs  # noqa: PLC0415  an extra

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    running.start()
    host, port = running.get_host_and_port()
    url = f"http://{host}:{port}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    s3fs.S3FileSystem.clear_instance_cache()
    fsspec.filesystem("s3").mkdir(BUCKET)
    yield f"s3://{BUCKET}/archive"
    running.stop()
    s3fs.S3FileSystem.clear_instance_cache()


def test_a_bucket_holds_the_same_as_a_directory(bucket: str, night: Make, tmp_path: Path) -> None:
    nights = [night() for _ in range(4)]
    add_all(str(tmp_path / "a"), nights, "m", strict=True)
    errors: list[BaseException] = []

    def write(paths: list[Path]) -> None:
        try:
            add_all(bucket, paths, "m", strict=True, processes=1)
        except BaseException as error:
            errors.append(error)

    write(nights[:1])
    threads = [threading.Thread(target=write, args=([nights[k], nights[3]],)) for k in (1, 2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not errors
    archive = open_archive(bucket)
    plain = engine(open_archive(str(tmp_path / "a"))).rows(queries.summaries("1 = 1"))
    for _ in range(2):
        run = engine(archive)
        assert [one.name for one in reading.chosen(run, None)] == [one.name for one in nights]
        found = run.rows(queries.summaries("1 = 1"))
        assert len(found) == len(plain) > 0
        for own, other in zip(found, plain, strict=True):
            assert own.keys() == other.keys()
            for name, value in own.items():
                wanted = other[name]
                exact = isinstance(wanted, str)
                assert value == (wanted if exact else pytest.approx(wanted, rel=1e-12)), name
        compaction.compact(archive)
    reading.take(archive, reading.by_id(archive, nights[3].name), tmp_path / "out")
    for file in nights[3].iterdir():
        if file.is_file():
            assert (tmp_path / "out" / file.name).read_bytes() == file.read_bytes()
    name = archive.contents().files["boots"][0].name
    archive.place.delete(name)
    with pytest.raises(StoreError, match="is not whole"):
        archive.contents()
