"""What each command takes: its arguments, options and help, and nothing that takes long to import.

The work is in the module of the same name in `cli/`, which a command imports when it is called; so
help, completion and wrong options cost no more than reading these.
"""
