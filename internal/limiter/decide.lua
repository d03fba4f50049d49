-- Copyright The Penstock Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Decides on requests, one after the other: checks all limits of a request, and
-- charges all of them if all admit it, else none. A later request sees what an
-- earlier one of the same call was charged.
--
-- KEYS  the counters of all checks, request by request; all in one cluster slot.
--       None twice in one request; several requests may share counters.
-- ARGV  1 if the clock shows a time that it had shown before, as far as the caller
--       knows, else 0; then for each run of requests that have the same checks: the
--       number of requests, the number of checks of each, then for each check the
--       name of its algorithm, how many arguments follow, and these: flags, cost and
--   'bucket'  rest of the cost, empty and rest, unit
--             cost: what the request takes to refill, whole microseconds and
--             rest in parts of a microsecond; empty: the same for the whole
--             burst; unit: how many parts a microsecond has
--   'window'  requests: how many requests; window: microseconds
--   'calendar' requests; when the window before this one, this one, the next, and
--             the one after that begin, in microseconds since the Unix epoch, as far
--             as the caller knows the time
--   'counter' requests, window; step: in how many microseconds time is counted;
--             steps: how many of these a window has, rounded up
--   'log'     requests: how many requests; window: microseconds
--   'places' requests: how many at once; lease: how long a holder counts that is
--             not heard of, microseconds; holder: a name no other request has, which
--             is not a number
--   Flags are added up. 1, shadow: the limit does not keep the request from being
--   admitted, and is charged only if it admits the request itself. 2, settled: what
--   a bucket owes beyond its burst is cut for good, as it is when the clock stepped
--   back; else other callers may know a larger burst. 4, overdrawn: late charges may
--   have taken the limit one capacity below empty. 8, leased: one more argument,
--   share, and for a bucket two before it, what one request takes to refill; a request
--   that is admitted is charged in advance for 1/share of what remains, if that is 2
--   requests or more.
--
-- Returns the time, in microseconds since the Unix epoch, and for each check in
-- turn, integers as they stood before its request was charged:
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
--   places: how many are held, and 0
--   with leased, also how many requests were charged in advance
-- A request was admitted, and charged, if all its limits that are no shadows admit
-- it. A cost of 0 is never charged. An error says that no request was charged.
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
-- State of places: a sorted set of the names of those who hold one, by when they
--   count no longer, in microseconds since the Unix epoch; for a cost of n also
--   'name:2' to 'name:n'.
-- A state that lies further ahead than the limit can produce was left by a clock
-- that stepped back. It is brought back to what it can be, also by a refusal: else
-- clients would wait until the clock is again where it was.
--
-- The clock is TIME. No number reaches 2^53, so all arithmetic is exact.
-- correct.lua knows these states as well: change both together.

-- Keys live this long after their limit is unused, in milliseconds. Redis counts
-- expiry from a time taken before TIME is: a key must never vanish early, since
-- its absence means an unused limit.
local MARGIN = 1000
local EXACT = 9007199254740992
-- The most requests that are charged in advance, so that products stay exact.
local MOST_LEASED = 1048576

-- This is run for every request: locals are faster than globals here, and there
-- are no functions since each would be made anew in every run.
local call, pcall, tonumber = redis.call, redis.pcall, tonumber
local find, sub, match, format = string.find, string.sub, string.match, string.format
local ceil, floor, min, max = math.ceil, math.floor, math.min, math.max

-- %d writes integers several times as fast as %.0f does, where a long has 64 bits.
if format('%d', EXACT - 1) ~= '9007199254740991' then
  return redis.error_reply('ERR this Redis counts in 32 bits: use a 64-bit one')
end

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local reply, parts = {now}, 1
-- One call reads all counters that are text.
local texts = call('MGET', unpack(KEYS))
-- What this call will write, by key: the state and how long it lives. The state is
-- a text; of a log how many entries the list has, where those begin and end that
-- are kept, and how many of now are added; of places how many are held, and
-- what ZADD takes to add or change some, and whether a refusal changes them: that
-- removes nobody.
local states, lifetimes = {}, {}
-- The same by number of the check, as it would be if all limits of its request
-- admit it, and as it will be anyway.
local charges, cuts, lives = {}, {}, {}
-- Where in the reply stands how much was charged in advance, by number of the check.
local advances = {}
local stepped = ARGV[1] == '1'
local at, key = 2, 0

while key < #KEYS do
  local run, checks = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local plans = {}
  at = at + 2
  for j = 1, checks do
    local plan, count = {ARGV[at]}, tonumber(ARGV[at + 1])
    for k = 1, count do
      local argument = ARGV[at + 1 + k]
      plan[k + 1] = tonumber(argument) or argument
    end
    plans[j] = plan
    at = at + 2 + count
  end

  for _ = 1, run do
    local first_key, last_key = key + 1, key + checks
    local admitted = true

    for i = first_key, last_key do
      local plan, name = plans[i - key], KEYS[i]
      local algorithm, flags, cost = plan[1], plan[2], plan[3]
      local overdrawn, leased = flags % 8 >= 4, flags >= 8
      local stored = states[name]
      if not stored then
        -- The state as text; false for none, '' for what is no text. Of a log the
        -- number of its entries, of places that of those that are held; '' for what
        -- is neither.
        if algorithm == 'log' then
          stored = pcall('LLEN', name)
        elseif algorithm == 'places' then
          stored = pcall('ZCOUNT', name, format('(%d', now), '+inf')
        else
          -- MGET shows nothing where there is something else than text.
          stored = texts[i] or pcall('GET', name)
        end
        if type(stored) == 'table' then
          if not find(stored.err, 'WRONGTYPE', 1, true) then
            return stored
          end
          stored = ''
        end
      end
      local admits, first, second, third, fourth, unused, cut
      local outside, advance = false, 0
      -- How long this limit can make anyone wait, in microseconds, if its counter
      -- is corrupt.
      local longest

      if algorithm == 'bucket' then
        -- tokenBucket.stand and charge in Go: change both together.
        local cost_rest, empty, empty_rest, unit = plan[4], plan[5], plan[6], plan[7]
        local debt, rest = 0, 0
        if stored then
          local full
          if find(stored, '^%d+$') then
            full, rest = sub(stored, 1, -4), sub(stored, -3)
          else
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
          elseif debt >= empty then
            local most, most_rest = empty, empty_rest
            if overdrawn then
              most, most_rest = 2 * most, 2 * most_rest
              if most_rest >= unit then
                most, most_rest = most + 1, most_rest - unit
              end
            end
            if debt > most or (debt == most and rest > most_rest) then
              -- The clock stepped back, or the burst was lowered.
              debt, rest = most, most_rest
              if stepped or flags % 4 >= 2 then
                cut = format(unit <= 1000 and '%d%03d' or '%d.%d', now + debt, rest)
                unused = debt + 1
              end
            end
          end
        end
        local after, after_rest = debt + cost, rest + cost_rest
        if after_rest >= unit then
          after, after_rest = after + 1, after_rest - unit
        end
        admits = after < empty or (after == empty and after_rest <= empty_rest)
        first, second = debt, rest
        if admits and leased then
          -- The requests that remain, or a few less: what one takes is rounded up.
          local one, one_rest = plan[8], plan[9]
          local left = empty - after - (after_rest > empty_rest and 1 or 0)
          if one > 0 then
            advance = floor(left / (one_rest > 0 and one + 1 or one))
          else
            advance = min(left, MOST_LEASED) * floor(unit / one_rest)
          end
          advance = min(floor(advance / plan[10]), MOST_LEASED)
          if advance >= 2 then
            local parts_rest = after_rest + advance * one_rest
            local carried = floor(parts_rest / unit)
            after, after_rest = after + advance * one + carried, parts_rest - carried * unit
          end
        end
        if admits and (cost > 0 or cost_rest > 0) then
          charges[i] = format(unit <= 1000 and '%d%03d' or '%d.%d', now + after, after_rest)
          unused = after + 1
        end

      elseif algorithm == 'window' or algorithm == 'calendar' then
        -- fixedWindow.stand and charge in Go: change both together.
        local requests = plan[4]
        local current, left, length
        if algorithm == 'window' then
          length = plan[5]
          local elapsed = now % length
          current, left = (now - elapsed) / length, length - elapsed
        else
          current, left, length = 0, 0, 0
          outside = true
          for j = 5, 7 do
            local from, to = plan[j], plan[j + 1]
            if from <= now and now < to then
              outside = false
              current, left, length = floor(from / 60000000), to - now, to - from
            end
          end
        end
        local count = 0
        if stored then
          local number
          if find(stored, '^%d+$') then
            number, count = tonumber(sub(stored, 1, -11)), tonumber(sub(stored, -10))
          end
          if not number or number >= EXACT then
            number, count, longest = 0, 0, length
          end
          local most = overdrawn and 2 * requests or requests
          if number < current then
            count = 0
          elseif count > most then
            -- Requests was lowered.
            count = most
          end
          if number > current and not outside then
            -- The clock stepped back; what was counted holds for this window.
            cut, unused = format('%d%010d', current, count), left
          end
        end
        admits = count + cost <= requests
        first, second = count, left
        if admits and leased then
          advance = min(floor((requests - count - cost) / plan[#plan]), MOST_LEASED)
        end
        if admits and cost > 0 then
          charges[i] = format('%d%010d', current, count + cost + (advance >= 2 and advance or 0))
          unused = left
        end

      elseif algorithm == 'counter' then
        -- slidingWindowCounter.stand and charge in Go: change both together.
        local requests, length, step, steps = plan[4], plan[5], plan[6], plan[7]
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
          local most = overdrawn and 2 * requests or requests
          -- Requests was lowered.
          before, count = min(before, most), min(count, most)
          if number > current then
            -- The clock stepped back; what was counted holds for this window.
            cut, unused = format('%d:%d:%d', current, before, count), 2 * length - elapsed
          end
        end
        local past = (elapsed - elapsed % step) / step
        admits = before * (steps - past) <= (requests - count - cost) * steps
        first, second, third = before, count, elapsed
        if admits and leased then
          local left = requests - count - cost - ceil(before * (steps - past) / steps)
          advance = min(floor(left / plan[8]), MOST_LEASED)
        end
        if admits and cost > 0 then
          charges[i] = format('%d:%d:%d', current, before, count + cost + (advance >= 2 and advance or 0))
          unused = 2 * length - elapsed
        end

      elseif algorithm == 'log' then
        -- slidingWindowLog.stand and charge in Go: change both together.
        local requests, length = plan[4], plan[5]
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
            newest = tonumber(call('LINDEX', name, kept - 1))
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
              entry = tonumber(call('LINDEX', name, probe))
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
          second = min(newest, now) - edge
          if count > requests then
            -- Requests was lowered, or late charges came.
            local next = low + count - requests
            oldest = next < kept and tonumber(call('LINDEX', name, next)) or now
          end
          -- In this order a number that is none counts as now, and what is out of order
          -- as about to wear off.
          third = max(1, min(now, oldest) - edge)
        end
        if not admits and cost <= requests then
          local last = low + count + cost - requests - 1
          fourth = max(1, min(now, last < kept and tonumber(call('LINDEX', name, last)) or now) - edge)
        end
        if newest > now and not longest then
          -- The clock stepped back; what was logged counts as if it came now.
          local from = low
          while from < kept do
            local probe = floor((from + kept) / 2)
            if (tonumber(call('LINDEX', name, probe)) or 0) > now then
              kept = probe
            else
              from = probe + 1
            end
          end
          cut, unused = {total, low, kept, size - kept}, length
        end
        if admits and leased then
          advance = min(floor((requests - count - cost) / plan[6]), MOST_LEASED)
        end
        if admits and cost > 0 then
          charges[i] = {total, low, kept, cost + size - kept + (advance >= 2 and advance or 0)}
          unused = length
        end

      elseif algorithm == 'places' then
        -- places.stand and charge in Go: change both together.
        local requests, lease, holder = plan[4], plan[5], plan[6]
        local count, joined = stored, nil
        if stored == '' then
          count, longest = 0, lease
        elseif type(stored) == 'table' then
          count, joined = stored[1], stored
        end
        admits = cost <= requests - count
        first, second = count, 0
        local latest = format('%d', now + lease)
        if admits and cost > 0 then
          local joining = {count + cost}
          for j = 2, joined and #joined or 1 do
            joining[j] = joined[j]
          end
          for j = 1, cost do
            local last = #joining
            joining[last + 1], joining[last + 2] = latest, j == 1 and holder or holder .. format(':%d', j)
          end
          charges[i], unused = joining, lease
        elseif not admits and not longest and not joined then
          -- Who holds for longer than a lease does so by a clock that stepped back.
          local late = call('ZRANGEBYSCORE', name, '(' .. latest, '+inf', 'LIMIT', '0', '1000')
          if #late > 0 then
            cut, unused = {count, refused = true}, lease
            for j = 1, #late do
              cut[2 * j], cut[2 * j + 1] = latest, late[j]
            end
          end
        end

      else
        return redis.error_reply('ERR unknown algorithm ' .. tostring(algorithm))
      end

      if longest then
        -- A corrupt counter clears by itself: it gets an expiry if it has none.
        pcall('PEXPIRE', name, format('%d', ceil(longest / 1000) + MARGIN), 'LT')
      end
      if longest or outside then
        charges[i], cut = nil, nil
      end
      if unused then
        lives[i], cuts[i] = format('%d', ceil(unused / 1000) + MARGIN), cut
      end
      if flags % 2 < 1 then
        admitted = admitted and admits and not longest and not outside
      end
      reply[parts + 1] = longest and -1 or outside and -2 or admits and 1 or 0
      reply[parts + 2], reply[parts + 3] = first, second
      parts = parts + 3
      if third then
        parts = parts + 1
        reply[parts] = third
      end
      if fourth then
        parts = parts + 1
        reply[parts] = fourth
      end
      if leased then
        parts = parts + 1
        reply[parts] = charges[i] and advance >= 2 and advance or 0
        advances[i] = parts
      end
    end

    for i = first_key, last_key do
      local state = admitted and charges[i] or cuts[i]
      if state then
        states[KEYS[i]], lifetimes[KEYS[i]] = state, lives[i]
      end
      if advances[i] and not admitted then
        reply[advances[i]] = 0
      end
    end
    key = last_key
  end
end

for name, state in pairs(states) do
  if type(state) == 'string' then
    call('PSETEX', name, lifetimes[name], state)
  elseif type(state[2]) == 'string' then
    if not state.refused then
      call('ZREMRANGEBYSCORE', name, '-inf', format('%d', now))
    end
    for j = 2, #state, 2000 do
      call('ZADD', name, unpack(state, j, min(j + 1999, #state)))
    end
    call('PEXPIRE', name, lifetimes[name])
  else
    local total, low, kept, added = unpack(state)
    if total > 0 and low == kept then
      call('DEL', name)
    elseif low > 0 or kept < total then
      call('LTRIM', name, low, kept - 1)
    end
    local entry = format('%d', now)
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
