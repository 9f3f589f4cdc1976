"""Symbols of the papers at the start of a text, such as t_c."""

from __future__ import annotations

import re

SYMBOL = re.compile(r"^([vtcpW])_([A-Za-z0-9]+)")
