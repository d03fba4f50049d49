-- Copyright The Penstock Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Decides on requests, one after the other: checks all limits of a request, and
-- charges all of them if all admit it, else none. A later request sees what an
-- earlier one of the same call was charged.
--
-- KEYS  the counters of all checks, request by request; all in one cluster slot.
--       None twice in one request; several requests may share counters.
-- ARGV  for each request the number of its checks, then for each of these, by the
--       limit's algorithm:
--   'bucket'  cost and rest, empty and rest, unit
--             cost: what the request takes to refill, whole microseconds and
--             rest in parts of a microsecond; empty: the same for the whole
--             burst; unit: how many parts a microsecond has
--   'window'  cost, requests: how many requests; window: microseconds
--
-- Returns, for each check in turn, three integers as they stood before its
-- request was charged:
--   1 if this limit admits the request, 0 if not, -1 if its counter holds
--     something else; the key then gets an expiry if it has none
--   bucket: the time until it is full, whole microseconds and parts
--   window: the requests counted in it, and the microseconds until it ends
-- A request was admitted, and charged, if all its limits admit it. A cost of 0 is
-- never written. An error says that no request was charged.
--
-- State of a bucket: the time when it is full again, as whole microseconds since
--   the Unix epoch and parts: 'MMMM…PPP' with three digits of parts where the
--   unit is at most 1000, which Redis keeps as an integer, else 'MMMM….PPPP'.
--   Editing `requests` changes the unit under a stored state. The parts are then
--   read in the new unit, or rounded up where they do not fit it, which moves
--   the time by less than one microsecond, once.
-- State of a window: its number since the Unix epoch, then ten digits of count.
--
-- The clock is TIME. No number reaches 2^53, so all arithmetic is exact.

-- Keys live this long after their limit is unused, in milliseconds. Redis counts
-- expiry from a time taken before TIME is: a key must never vanish early, since
-- its absence means an unused limit.
local MARGIN = 1000
local EXACT = 9007199254740992

-- This is run for every request: locals are faster than globals here, and there
-- are no functions since each would be made anew in every run.
local call, pcall, tonumber = redis.call, redis.pcall, tonumber
local match, format, ceil = string.match, string.format, math.ceil

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local reply, parts = {}, 0
-- What this call will write, by key: the state as text and how long it lives.
local texts, lifetimes = {}, {}
-- The same by number of the check, as it would be if all limits of its request
-- admit it.
local charges, lives = {}, {}
local at, key = 1, 0

while key < #KEYS do
  local first_key, last_key = key + 1, key + tonumber(ARGV[at])
  local admitted = true
  at = at + 1

  for i = first_key, last_key do
    local algorithm, stored = ARGV[at], texts[KEYS[i]] or pcall('GET', KEYS[i])
    -- The state as text; false for none, '' for what is no text.
    if stored and type(stored) ~= 'string' then
      if not string.find(stored.err, 'WRONGTYPE', 1, true) then
        return stored
      end
      stored = ''
    end
    local admits, first, second, unused
    -- How long this limit can make anyone wait, in microseconds, if its counter
    -- is corrupt.
    local longest

    if algorithm == 'bucket' then
      -- tokenBucket.stand and charge in Go: change both together.
      local cost, cost_rest = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
      local empty, empty_rest = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
      local unit = tonumber(ARGV[at + 5])
      at = at + 6
      local debt, rest = 0, 0
      if stored then
        local full
        full, rest = match(stored, '^(%d+)(%d%d%d)$')
        if not full then
          full, rest = match(stored, '^(%d+)%.(%d+)$')
        end
        full, rest = tonumber(full), tonumber(rest)
        if not full or full >= EXACT or rest >= EXACT then
          full, rest, longest = 0, 0, empty
        elseif rest >= unit then
          full, rest = full + 1, 0
        end
        debt = full - now
        if debt < 0 then
          debt, rest = 0, 0
        elseif debt > empty or (debt == empty and rest > empty_rest) then
          -- The clock stepped back, or the burst was lowered.
          debt, rest = empty, empty_rest
        end
      end
      local after, after_rest = debt + cost, rest + cost_rest
      if after_rest >= unit then
        after, after_rest = after + 1, after_rest - unit
      end
      admits = after < empty or (after == empty and after_rest <= empty_rest)
      first, second = debt, rest
      if admits and (cost > 0 or cost_rest > 0) then
        charges[i] = format(unit <= 1000 and '%.0f%03.0f' or '%.0f.%.0f', now + after, after_rest)
        unused = after + 1
      end

    elseif algorithm == 'window' then
      -- fixedWindow.stand and charge in Go: change both together.
      local cost, requests, length = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
      at = at + 4
      local elapsed = now % length
      local current = (now - elapsed) / length
      local count = 0
      if stored then
        local number
        number, count = match(stored, '^(%d+)(%d%d%d%d%d%d%d%d%d%d)$')
        number, count = tonumber(number), tonumber(count)
        if not number or number >= EXACT then
          number, count, longest = 0, 0, length
        end
        if number < current then
          count = 0
        elseif count > requests then
          -- Requests was lowered. A later window than the current one is left by
          -- a clock that stepped back; its count holds for the current one.
          count = requests
        end
      end
      admits = count + cost <= requests
      first, second = count, length - elapsed
      if admits and cost > 0 then
        charges[i] = format('%.0f%010.0f', current, count + cost)
        unused = second
      end

    else
      return redis.error_reply('ERR unknown algorithm ' .. tostring(algorithm))
    end

    if longest then
      -- A corrupt counter clears by itself: it gets an expiry if it has none.
      pcall('PEXPIRE', KEYS[i], format('%.0f', ceil(longest / 1000) + MARGIN), 'LT')
    end
    if unused then
      lives[i] = format('%.0f', ceil(unused / 1000) + MARGIN)
    end
    admitted = admitted and admits and not longest
    reply[parts + 1], reply[parts + 2], reply[parts + 3] = longest and -1 or admits and 1 or 0, first, second
    parts = parts + 3
  end

  if admitted then
    for i = first_key, last_key do
      if charges[i] then
        texts[KEYS[i]], lifetimes[KEYS[i]] = charges[i], lives[i]
      end
    end
  end
  key = last_key
end

for name, text in pairs(texts) do
  call('SET', name, text, 'PX', lifetimes[name])
end
return reply
