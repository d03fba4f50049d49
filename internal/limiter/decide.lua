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
--   'calendar' cost, requests; when the window before this one, this one, the
--             next, and the one after that begin, in microseconds since the Unix
--             epoch, as far as the caller knows the time
--   'counter' cost, requests, window; step: in how many microseconds time is
--             counted; steps: how many of these a window has, rounded up
--   'log'     cost, requests: how many requests; window: microseconds
--
-- Returns, for each check in turn, integers as they stood before its request was
-- charged:
--   1 if this limit admits the request, 0 if not, -1 if its counter holds
--     something else; the key then gets an expiry if it has none; -2 if the time is
--     in none of a calendar's windows
--   bucket: the time until it is full, whole microseconds and parts
--   window, calendar: the requests counted in it, and the microseconds until it ends
--   counter: the requests counted in the window before and in this one, and the
--   microseconds since this one began
--   log: the requests in the last window's length, and the microseconds until the
--   last of them wears off, until fewer count against the limit, and until this
--   request is admitted; 0 where there is nothing to wait for
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
-- State of a calendar window: when it began, in minutes since the Unix epoch, then
--   ten digits of count.
-- State of a counter: a window's number since the Unix epoch, the requests of the
--   window before it and its own: 'NNNN:P:C'.
-- State of a log: a list of the times at which requests came, in microseconds
--   since the Unix epoch and in order, one for each of their cost. What has worn
--   off is removed with the next charge; it is found by halving, so a call reads
--   few entries of however many.
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
local match, format = string.match, string.format
local ceil, floor, min = math.ceil, math.floor, math.min

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local reply, parts = {}, 0
-- What this call will write, by key: the state and how long it lives. The state is
-- a text, of a log how many entries the list has, where those begin and end that
-- are kept, and how many of now are added.
local states, lifetimes = {}, {}
-- The same by number of the check, as it would be if all limits of its request
-- admit it.
local charges, lives = {}, {}
local at, key = 1, 0

while key < #KEYS do
  local first_key, last_key = key + 1, key + tonumber(ARGV[at])
  local admitted = true
  at = at + 1

  for i = first_key, last_key do
    local algorithm, stored = ARGV[at], states[KEYS[i]]
    if not stored then
      -- The state as text; false for none, '' for what is no text. Of a log the
      -- number of its entries, '' for what is no list.
      stored = pcall(algorithm == 'log' and 'LLEN' or 'GET', KEYS[i])
      if type(stored) == 'table' then
        if not string.find(stored.err, 'WRONGTYPE', 1, true) then
          return stored
        end
        stored = ''
      end
    end
    local admits, first, second, third, fourth, unused
    local outside = false
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

    elseif algorithm == 'window' or algorithm == 'calendar' then
      -- fixedWindow.stand and charge in Go: change both together.
      local cost, requests = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
      local current, left, length
      if algorithm == 'window' then
        length = tonumber(ARGV[at + 3])
        local elapsed = now % length
        current, left = (now - elapsed) / length, length - elapsed
        at = at + 4
      else
        current, left, length = 0, 0, 0
        outside = true
        for j = at + 3, at + 5 do
          local from, to = tonumber(ARGV[j]), tonumber(ARGV[j + 1])
          if from <= now and now < to then
            outside = false
            current, left, length = floor(from / 60000000), to - now, to - from
          end
        end
        at = at + 7
      end
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
      first, second = count, left
      if admits and cost > 0 then
        charges[i] = format('%.0f%010.0f', current, count + cost)
        unused = left
      end

    elseif algorithm == 'counter' then
      -- slidingWindowCounter.stand and charge in Go: change both together.
      local cost, requests, length = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
      local step, steps = tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
      at = at + 6
      local elapsed = now % length
      local current = (now - elapsed) / length
      local before, count = 0, 0
      if stored then
        local number
        number, before, count = match(stored, '^(%d+):(%d+):(%d+)$')
        number, before, count = tonumber(number), tonumber(before), tonumber(count)
        if not number or number >= EXACT or before >= EXACT or count >= EXACT then
          number, before, count, longest = 0, 0, 0, 2 * length
        end
        if number < current then
          before, count = number == current - 1 and count or 0, 0
        end
        -- Requests was lowered. A later window than the current one is left by a
        -- clock that stepped back; its counts hold for the current one.
        if before > requests then
          before = requests
        end
        if count > requests then
          count = requests
        end
      end
      local past = (elapsed - elapsed % step) / step
      admits = before * (steps - past) <= (requests - count - cost) * steps
      first, second, third = before, count, elapsed
      if admits and cost > 0 then
        charges[i] = format('%.0f:%.0f:%.0f', current, before, count + cost)
        unused = 2 * length - elapsed
      end

    elseif algorithm == 'log' then
      -- slidingWindowLog.stand and charge in Go: change both together.
      local cost, requests, length = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
      at = at + 4
      local edge = now - length
      -- In the list are total entries. Of these, the ones from low to kept matter;
      -- then come those of now that this call will add.
      local total, low, kept, added = stored, 0, stored, 0
      if stored == '' then
        total, kept, longest = 0, 0, length
      elseif type(stored) == 'table' then
        total, low, kept, added = unpack(stored)
      end
      local size = kept + added
      -- Entries before low have worn off, those from high on count.
      local high = size
      local oldest, newest = now, now
      if size > low then
        if added == 0 then
          newest = tonumber(call('LINDEX', KEYS[i], kept - 1))
        end
        if not newest or not (newest >= 0 and newest < EXACT) then
          low, newest, longest = size, now, length
        elseif newest <= edge then
          low = size
        else
          high, oldest = size - 1, newest
        end
        local probe, stride = low, 1
        while low < high do
          local entry = now
          if probe < kept then
            entry = tonumber(call('LINDEX', KEYS[i], probe))
          end
          if not entry then
            low, longest = size, length
          elseif entry > edge then
            high, oldest, stride = probe, entry, 0
          else
            low = probe + 1
          end
          if stride > 0 then
            -- Mostly few have worn off: steps from the front double until one counts.
            probe, stride = min(low + stride - 1, high - 1), stride * 2
          else
            probe = floor((low + high) / 2)
          end
        end
      end
      local count = size - low
      admits = cost <= requests - count
      first, second, third, fourth = count, 0, 0, 0
      if count > 0 then
        -- Entries of a later time are left by a clock that stepped back; they count
        -- as if they came now.
        second = min(newest, now) - edge
        if count > requests then
          -- Requests was lowered.
          local next = low + count - requests
          oldest = next < kept and tonumber(call('LINDEX', KEYS[i], next)) or now
        end
        third = min(oldest, now) - edge
      end
      if not admits and cost <= requests then
        local last = low + count + cost - requests - 1
        fourth = min(last < kept and tonumber(call('LINDEX', KEYS[i], last)) or now, now) - edge
      end
      if admits and cost > 0 then
        if newest > now then
          local from = low
          while from < kept do
            local probe = floor((from + kept) / 2)
            if (tonumber(call('LINDEX', KEYS[i], probe)) or 0) > now then
              kept = probe
            else
              from = probe + 1
            end
          end
        end
        charges[i] = {total, low, kept, cost + size - kept}
        unused = length
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
    admitted = admitted and admits and not longest and not outside
    reply[parts + 1] = longest and -1 or outside and -2 or admits and 1 or 0
    reply[parts + 2], reply[parts + 3] = first, second
    parts = parts + 3
    if third then
      reply[parts + 1] = third
      parts = parts + 1
    end
    if fourth then
      reply[parts + 1] = fourth
      parts = parts + 1
    end
  end

  if admitted then
    for i = first_key, last_key do
      if charges[i] then
        states[KEYS[i]], lifetimes[KEYS[i]] = charges[i], lives[i]
      end
    end
  end
  key = last_key
end

for name, state in pairs(states) do
  if type(state) == 'string' then
    call('SET', name, state, 'PX', lifetimes[name])
  else
    local total, low, kept, added = unpack(state)
    if total > 0 and low == kept then
      call('DEL', name)
    elseif low > 0 or kept < total then
      call('LTRIM', name, low, kept - 1)
    end
    local entry = format('%.0f', now)
    if added == 1 then
      call('RPUSH', name, entry)
    else
      local entries = {}
      for j = 1, min(added, 1000) do
        entries[j] = entry
      end
      for j = 0, added - 1, 1000 do
        call('RPUSH', name, unpack(entries, 1, min(added - j, 1000)))
      end
    end
    call('PEXPIRE', name, lifetimes[name])
  end
end
return reply
