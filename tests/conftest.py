"""Makes this folder importable: helpers such as `scripted` serve the tests of several rooms."""
