"""What each command takes: its arguments, options and help, and nothing that takes long to import.

The work is in the module of the same name in `cli/`, which is imported when the command is called
(`work.py`); so help, completion and wrong options cost no more than reading these.
"""
