"""Entries on a Redis or Valkey server, for many machines.

An entry is a hash that the server drops when its time is over. Its *member*, ``stem|caller|kind|cost``, stands in
three sorted sets: all entries and the entries of its caller by the order they came, and all by the time they
expire. Scripts keep hash, sets and the counted bytes in step, so that a crash loses at most what was being written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson
import redis

from app.stores.entries import (
    MOST_EVICTED,
    Bounds,
    Entry,
    Evicted,
    Filter,
    Link,
    NoPlace,
    Usage,
    cost_of,
    stem_of,
)
from app.stores.redis_store import PREFIX, failing_as_store_down

PLACE = f"{PREFIX}entries:"
"""Before every key; the number in it is the version of what the keys hold."""
SWEEP = 100
"""Expired entries that one write removes at most."""
PAGE = 50
"""Entries that a list reads at once."""
STEPS = 50
"""Links of a conversation that one script reads, while the server does nothing else."""

_COMMON = (
    f"local most_evicted = {MOST_EVICTED}"
    + """
local place = KEYS[1]
local function key_of(stem) return place .. 'entry:' .. stem end
local function parts(member) return string.match(member, '^(%x+)|([^|]*)|([^|]*)|(%d+)$') end
local function book(caller, cost)
  redis.call('HINCRBY', place .. 'bytes', '', cost)
  if redis.call('HINCRBY', place .. 'bytes', caller, cost) <= 0 then redis.call('HDEL', place .. 'bytes', caller) end
end
local function drop(member)
  local stem, caller, kind, cost = parts(member)
  redis.call('DEL', key_of(stem))
  redis.call('ZREM', place .. 'all', member)
  redis.call('ZREM', place .. 'expiry', member)
  redis.call('ZREM', place .. 'of:' .. caller, member)
  book(caller, -tonumber(cost))
end
local function make_room(set, caller, count, cost, most, most_bytes, keep)
  local gone = 0
  while redis.call('ZCARD', set) + count > most
      or tonumber(redis.call('HGET', place .. 'bytes', caller) or 0) + cost > most_bytes do
    local oldest = redis.call('ZRANGE', set, 0, 1)
    local victim = oldest[1]
    if victim == keep then victim = oldest[2] end
    if not victim or gone >= most_evicted then break end
    drop(victim)
    gone = gone + 1
  end
  return gone
end
"""
)
_PUT = (
    _COMMON
    + """
local stem, caller, kind, cost = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local now, ttl = tonumber(ARGV[5]), tonumber(ARGV[6])
for _, member in ipairs(redis.call('ZRANGEBYSCORE', place .. 'expiry', '-inf', now, 'LIMIT', 0, ARGV[7])) do
  drop(member)
end
local mine = make_room(place .. 'of:' .. caller, caller, 1, cost, tonumber(ARGV[8]), tonumber(ARGV[9]), '')
local all = make_room(place .. 'all', '', 1, cost, tonumber(ARGV[10]), tonumber(ARGV[11]), '')
local member = stem .. '|' .. caller .. '|' .. kind .. '|' .. ARGV[4]
local order = redis.call('INCR', place .. 'order')
redis.call('ZADD', place .. 'all', order, member)
redis.call('ZADD', place .. 'of:' .. caller, order, member)
redis.call('ZADD', place .. 'expiry', now + ttl, member)
book(caller, cost)
redis.call('HSET', key_of(stem), 'member', member, unpack(ARGV, 12))
redis.call('PEXPIRE', key_of(stem), ttl)
return {mine, all}
"""
)
_DELETE = (
    _COMMON
    + """
local found = redis.call('HMGET', key_of(ARGV[1]), 'member', 'id', 'caller', 'expires')
if not found[1] or found[2] ~= ARGV[2] or found[3] ~= ARGV[3] or tonumber(found[4]) <= tonumber(ARGV[4]) then
  return 0
end
drop(found[1])
return 1
"""
)
_RELABEL = (
    _COMMON
    + """
local key, caller = key_of(ARGV[1]), ARGV[3]
local found = redis.call('HMGET', key, 'member', 'id', 'caller', 'expires')
if not found[1] or found[2] ~= ARGV[2] or found[3] ~= caller or tonumber(found[4]) <= tonumber(ARGV[4]) then
  return 0
end
local member = found[1]
local stem, _, kind, old = parts(member)
local cost = tonumber(ARGV[6])
local more = cost - tonumber(old)
make_room(place .. 'of:' .. caller, caller, 0, more, tonumber(ARGV[7]), tonumber(ARGV[8]), member)
make_room(place .. 'all', '', 0, more, tonumber(ARGV[9]), tonumber(ARGV[10]), member)
local new = stem .. '|' .. caller .. '|' .. kind .. '|' .. ARGV[6]
for _, set in ipairs({'all', 'of:' .. caller, 'expiry'}) do
  local score = redis.call('ZSCORE', place .. set, member)
  redis.call('ZREM', place .. set, member)
  redis.call('ZADD', place .. set, score, new)
end
book(caller, more)
redis.call('HSET', key, 'member', new, 'metadata', ARGV[5])
return 1
"""
)
_WALK = (
    _COMMON
    + """
local links, stem, left = {}, ARGV[1], tonumber(ARGV[5])
for step = 1, tonumber(ARGV[4]) do
  local found = redis.call('HMGET', key_of(stem), 'caller', 'expires', 'id', 'previous_id', 'previous_stem',
    'history_bytes', 'history')
  if found[1] ~= ARGV[3] or tonumber(found[2]) <= tonumber(ARGV[6]) then break end
  if ARGV[2] ~= '' and step == 1 and found[3] ~= ARGV[2] then break end
  links[step] = {found[3], found[4] or '', found[5] or '', found[6], found[7]}
  left = left - tonumber(found[6])
  if not found[5] or found[5] == '' or left < 0 then break end
  stem = found[5]
end
return links
"""
)

_FIELDS = (
    "id",
    "kind",
    "caller",
    "model",
    "metadata",
    "history",
    "history_bytes",
    "shown",
    "previous_id",
    "created",
    "expires",
)


class RedisEntries:
    """See Entries. ``wall_clock`` gives seconds since the epoch, the same on all machines within a little."""

    def __init__(
        self, client: redis.Redis, bounds: Bounds, wall_clock: Callable[[], float] = time.time
    ) -> None:
        self._client = client
        self._bounds = bounds
        self._now = wall_clock
        self._put: Any = client.register_script(_PUT)
        self._delete: Any = client.register_script(_DELETE)
        self._relabel: Any = client.register_script(_RELABEL)
        self._walk: Any = client.register_script(_WALK)

    def put(self, entry: Entry) -> Evicted:
        """See Entries."""
        now, bounds = self._now(), self._bounds
        arguments = [entry.stem, entry.caller, entry.kind, entry.cost, _ms(now), _ms(bounds.ttl_s), SWEEP]
        fields = _fields(entry, now, now + bounds.ttl_s)
        with failing_as_store_down():
            gone = self._put(keys=[PLACE], args=[*arguments, *self._limits(), *fields])
        return Evicted(*gone)

    def _limits(self) -> list[int]:
        bounds = self._bounds
        return [bounds.caller_count, bounds.caller_bytes, bounds.total_count, bounds.total_bytes]

    def get(self, caller: str, entry_id: str) -> Entry | None:
        """See Entries."""
        entry = self.of_item(caller, entry_id)
        return entry if entry is not None and entry.id == entry_id else None

    def of_item(self, caller: str, item_id: str) -> Entry | None:
        """See Entries."""
        stem = stem_of(item_id)
        entry = None if stem is None else self._read([stem])[0]
        return entry if entry is not None and entry.caller == caller else None

    def _read(self, stems: list[str]) -> list[Entry | None]:
        with failing_as_store_down():
            pipe = self._client.pipeline(transaction=False)
            for stem in stems:
                pipe.hmget(f"{PLACE}entry:{stem}", _FIELDS)
            rows: Any = pipe.execute()
        now = self._now()
        return [None if row[0] is None or float(row[-1]) <= now else _entry(row) for row in rows]

    def walk(self, caller: str, entry_id: str, depth: int, most_bytes: int) -> list[Link]:
        """See Entries."""
        links: list[Link] = []
        stem, wanted_id, left = stem_of(entry_id) or "", entry_id, most_bytes
        while stem and left >= 0 and len(links) < depth:
            steps = min(STEPS, depth - len(links))
            arguments = [stem, wanted_id, caller, steps, left, repr(self._now())]
            with failing_as_store_down():
                found: Any = self._walk(keys=[PLACE], args=arguments)
            for link_id, previous_id, previous_stem, history_bytes, history in found:
                links.append(Link(link_id.decode(), previous_id.decode() or None, history))
                left -= int(history_bytes)
                stem = previous_stem.decode()
            if len(found) < steps:
                break
            wanted_id = ""  # from here on the links say themselves where they lead
        return links

    def select(self, caller: str, wanted: Filter) -> Iterator[Entry]:
        """See Entries."""
        start = self._place(caller, wanted)
        own = f"{PLACE}of:{caller}"
        read = self._client.zrevrange if wanted.descending else self._client.zrange
        while True:
            with failing_as_store_down():
                members: Any = read(own, start, start + PAGE - 1)
            kinds = [member.decode().split("|") for member in members]
            stems = [stem for stem, _, kind, _ in kinds if kind == wanted.kind]
            for entry in self._read(stems) if stems else ():
                if entry is not None and wanted.takes(entry.model, entry.metadata):
                    yield entry
            if len(members) < PAGE:
                return
            start += PAGE

    def _place(self, caller: str, wanted: Filter) -> int:
        """The rank to begin at. Raises NoPlace."""
        if wanted.after is None:
            return 0
        entry = self.get(caller, wanted.after)
        if entry is None or entry.kind != wanted.kind:
            raise NoPlace
        own = f"{PLACE}of:{caller}"
        with failing_as_store_down():
            member: Any = self._client.hget(f"{PLACE}entry:{entry.stem}", "member")
            rank_of = self._client.zrevrank if wanted.descending else self._client.zrank
            rank: Any = None if member is None else rank_of(own, member)
        if rank is None:
            raise NoPlace
        return int(rank) + 1

    def relabel(self, caller: str, entry_id: str, metadata: Mapping[str, str]) -> Entry | None:
        """See Entries."""
        entry = self.get(caller, entry_id)
        if entry is None:
            return None
        cost = cost_of(metadata, len(entry.history) + len(entry.shown))
        arguments = [entry.stem, entry_id, caller, repr(self._now()), orjson.dumps(metadata), cost]
        with failing_as_store_down():
            self._relabel(keys=[PLACE], args=[*arguments, *self._limits()])
        return self.get(caller, entry_id)

    def delete(self, caller: str, entry_id: str) -> bool:
        """See Entries."""
        stem = stem_of(entry_id)
        if stem is None:
            return False
        with failing_as_store_down():
            return bool(self._delete(keys=[PLACE], args=[stem, entry_id, caller, repr(self._now())]))

    def usage(self, caller: str | None = None) -> Usage:
        """See Entries."""
        with failing_as_store_down():
            count: Any = self._client.zcard(f"{PLACE}all" if caller is None else f"{PLACE}of:{caller}")
            used: Any = self._client.hget(f"{PLACE}bytes", "" if caller is None else caller)
        return Usage(int(count), int(used or 0))

    def check(self) -> None:
        """See Entries."""
        with failing_as_store_down():
            self._client.set(f"{PLACE}check", b"", px=1000)

    def close(self) -> None:
        """See Entries."""
        self._client.connection_pool.disconnect()


def _fields(entry: Entry, now: float, expires: float) -> list[str | bytes | int]:
    """Names and values of the hash."""
    values: dict[str, str | bytes | int] = {
        "id": entry.id,
        "kind": entry.kind,
        "caller": entry.caller,
        "model": entry.model,
        "metadata": orjson.dumps(entry.metadata),
        "history": entry.history,
        "history_bytes": entry.history_bytes,
        "shown": entry.shown,
        "created": repr(now),
        "expires": repr(expires),
    }
    if entry.previous_id is not None:
        values["previous_id"] = entry.previous_id
        values["previous_stem"] = stem_of(entry.previous_id) or ""
    return [item for pair in values.items() for item in pair]


def _entry(row: list[bytes | None]) -> Entry:
    entry_id, kind, caller, model, metadata, history, history_bytes, shown, previous_id, created, _ = (
        value or b"" for value in row
    )
    return Entry(
        entry_id.decode(),
        "response" if kind == b"response" else "completion",
        caller.decode(),
        model.decode(),
        orjson.loads(metadata),
        history,
        int(history_bytes),
        shown,
        previous_id.decode() or None,
        float(created),
    )


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))
