"""Names of hosts and their addresses."""

import socket
from typing import List


def resolve(host: str) -> List[str]:
    """Return the addresses of a name, IPv4 before IPv6.

    Raises:
        OSError: The name does not resolve, or not yet: SageMaker's names come late
            (https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-running-container.html).
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    # IPv4 first: SageMaker's networks have no other.
    ordered = sorted(found, key=lambda entry: entry[0] != socket.AF_INET)
    return list(dict.fromkeys(str(entry[4][0]) for entry in ordered))


def plain(address: str) -> str:
    """Return an IPv4 address that came over an IPv6 socket as itself."""
    return address[len("::ffff:") :] if address.startswith("::ffff:") else address
