"""The EFI variables by which a loader reports what it is and did (Boot Loader Interface)."""

from __future__ import annotations

VARIABLES = "/sys/firmware/efi/efivars"
VENDOR = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"
"""The vendor's id of the variables of the Boot Loader Interface."""

# tail(1) seeks in a file, which efivarfs refuses; it reads a pipe.
READ = rf"""
read_variable() {{
    cat "{VARIABLES}/$1-{VENDOR}" 2>/dev/null | tail -c +5 | tr -d '\000'
}}
"""
"""Defines `read_variable NAME`: the text of a variable, or nothing where there is none."""
