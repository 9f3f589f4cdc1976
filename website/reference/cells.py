"""Text in the cells of a Markdown table."""


def cell(text: str) -> str:
    """Text that neither ends its cell nor its line."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Text as inline code in a cell."""
    return f"`{cell(text)}`"


def table(columns: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"
