"""What is read out of a page: blocks, links, anchors and the calls in shell blocks."""

import pytest

from website.markdown import anchors, blocks, commands, links, relinked, slug

PAGE = """\
# One `page`

See [there](other.md#part) and `[no](link.md)`.

```sh
pentathlon run a.toml \\
    --blocks 3 | head -3 > out && pentathlon compare "results/a b"
status=$?; pentathlon gate --only 'x.*' || true
```

## A part, and {more}

```toml title="a.toml"
# not a heading [no](link.md)
name = "a"
```

## A part, and {more}
"""


def test_blocks_have_their_language_title_and_line() -> None:
    found = list(blocks(PAGE))
    assert [(one.language, one.title, one.line) for one in found] == [
        ("sh", "", 6),
        ("toml", "a.toml", 14),
    ]
    assert found[1].text == '# not a heading [no](link.md)\nname = "a"\n'


def test_links_in_code_are_none() -> None:
    assert links(PAGE) == ["other.md#part"]
    assert relinked(PAGE, lambda target: "x") == PAGE.replace("other.md#part", "x", 1)


def test_anchors_are_those_of_headings() -> None:
    assert anchors(PAGE) == {"one-page", "a-part-and-more", "a-part-and-more-1"}
    assert slug("`[procedure]`, in [short](x.md)") == "procedure-in-short"


@pytest.mark.parametrize(
    ("line", "calls"),
    [
        ("pentathlon run a --blocks 3 | head", [["run", "a", "--blocks", "3"]]),
        ("$ pentathlon doctor", [["doctor"]]),
        ("echo pentathlon-agent > pentathlon.txt", []),
        ('.venv/bin/pentathlon compare "a b" && pentathlon gate', [["compare", "a b"], ["gate"]]),
        ("pentathlon gate --json > gate.json || status=$?", [["gate", "--json"]]),
        ("pentathlon gate # a remark", [["gate"]]),
    ],
)
def test_calls(line: str, calls: list[list[str]]) -> None:
    assert [call for _, call in commands(f"```sh\n{line}\n```\n")] == calls


def test_a_call_that_goes_on_over_lines() -> None:
    assert commands(PAGE) == [
        (7, ["run", "a.toml", "--blocks", "3"]),
        (7, ["compare", "results/a b"]),
        (8, ["gate", "--only", "x.*"]),
    ]
