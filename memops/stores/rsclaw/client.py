"""The client of an rsclaw gateway: its address is a host and a port, its token RSCLAW_TOKEN."""

from urllib.parse import urlsplit

from memops.errors import MemopsError
from memops.models.endpoint import Endpoint, Manners

_MANNERS = Manners(
    "RSCLAW",
    "the gateway",
    "see whether the gateway is well, or snapshot its file, rsclaw:PATH/memory.redb",
    "start the gateway, or use its file",
)


class Client(Endpoint):
    """Requests to `http://HOST:PORT`, of one snapshot."""

    def __init__(self, url: str, pause: float = 0.25) -> None:
        parts = urlsplit(url)
        if parts.username or parts.query or parts.fragment or parts.path.strip("/"):
            raise MemopsError(
                f"rsclaw:{parts.scheme}://{parts.hostname}: give only host and port",
                "put the token into RSCLAW_TOKEN",
            )
        super().__init__(url, _MANNERS, pause)
