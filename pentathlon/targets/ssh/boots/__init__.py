"""Which kernel another machine boots: its loaders, the choice for one boot, and the way back."""
