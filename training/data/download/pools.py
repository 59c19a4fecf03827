"""Connections that are kept open, through the proxies that the environment names."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from training.data.download.patience import Patience
from training.errors import UsageError


class Pools:
    """Pools of connections, one for each proxy and one without; for several threads.

    Certificates are verified, against those of the machine or of SSL_CERT_FILE.
    """

    def __init__(self, connections: int, patience: Patience) -> None:
        self._options: dict[str, Any] = {
            "maxsize": connections,
            "retries": False,
            "timeout": urllib3.Timeout(connect=patience.connect_s, read=patience.silence_s),
        }
        # http_proxy, https_proxy and no_proxy, in small or capital letters.
        self._proxies = getproxies()
        self._pools: dict[str | None, urllib3.PoolManager] = {None: self._pool(None)}
        for scheme in ("http", "https"):
            if proxy := self._proxies.get(scheme):
                self._pools[proxy] = self._pool(proxy)

    def of(self, address: str) -> urllib3.PoolManager:
        """Return the pool through which an address is reached."""
        parts = urlsplit(address)
        proxy = self._proxies.get(parts.scheme)
        if proxy is None or proxy_bypass(parts.netloc):
            return self._pools[None]
        return self._pools[proxy]

    def _pool(self, proxy: str | None) -> urllib3.PoolManager:
        if proxy is None:
            return urllib3.PoolManager(**self._options)
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UsageError(
                f"the proxy {parts.hostname or ''} of the environment (https_proxy, http_proxy) is "
                f"of the kind {parts.scheme!r}; http and https are supported"
            )
        headers = None
        if parts.username:
            account = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers = urllib3.make_headers(proxy_basic_auth=account)
        # Without the account, which must not get into messages.
        place = parts.netloc.rpartition("@")[2]
        return urllib3.ProxyManager(
            f"{parts.scheme}://{place}", proxy_headers=headers, **self._options
        )
