"""The command line: parse, call, print."""


def main() -> None:
    """Run memops."""
