"""What an endpoint answers (docs/protocol.md), a module for each group of its commands.

Every answer is read here into a typed message, or refused with one sentence, before it is used."""
