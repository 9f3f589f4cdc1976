"""Power controllers: what switches a machine off and on that does not come back by itself."""
