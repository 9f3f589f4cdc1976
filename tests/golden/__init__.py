"""Results that earlier versions recorded, and what those versions judged them to be."""
