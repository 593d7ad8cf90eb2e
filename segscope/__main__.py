"""``python -m segscope``."""

from segscope.cli import main

main()
