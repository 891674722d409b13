"""The upstream that speaks the Connect protocol."""

from app.upstreams.connect.upstream import ConnectUpstream

__all__ = ["ConnectUpstream"]
