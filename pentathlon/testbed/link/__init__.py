"""Two hosts with an emulated link between them."""
