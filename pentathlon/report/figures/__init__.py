"""The pictures of the report as vector graphics for papers, drawn by Matplotlib."""
