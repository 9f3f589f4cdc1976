"""One study on several machines: the machine is the highest level of repetition."""
