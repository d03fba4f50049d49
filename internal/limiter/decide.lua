-- Copyright The Penstock Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Decides on one request: checks all its limits, and charges all of them if all
-- admit it, else none.
--
-- KEYS  the counter of each limit; all in one cluster slot, none twice
-- ARGV  for each key in turn, by its algorithm:
--   'bucket'  cost and rest, empty and rest, unit
--             cost: what the request takes to refill, whole microseconds and
--             rest in parts of a microsecond; empty: the same for the whole
--             burst; unit: how many parts a microsecond has
--   'window'  cost, requests: how many requests; window: microseconds
--
-- Returns, for each key in turn, three integers as they stood before any charge:
--   1 if this limit admits the request, else 0
--   bucket: the time until it is full, whole microseconds and parts
--   window: the requests counted in it, and the microseconds until it ends
-- The request was admitted, and charged, if all limits admit it. A cost of 0 is
-- never written.
-- An error that begins with CORRUPT says that a counter holds something else;
-- nothing was charged then. The key gets an expiry if it has none.
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

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local reply = {}
local admitted = true
local corrupt = nil
-- What to write if all admit: key, text, milliseconds to live.
local writes = {}

local function integer(number)
  return string.format('%.0f', number)
end

local function found_corrupt(key, algorithm, longest)
  -- It clears by itself after as long as the limit could have made anyone wait.
  redis.pcall('PEXPIRE', key, integer(math.ceil(longest / 1000) + MARGIN), 'LT')
  corrupt = corrupt or algorithm
end

local function prepare(key, text, lifetime)
  writes[#writes + 1] = key
  writes[#writes + 1] = text
  writes[#writes + 1] = integer(math.ceil(lifetime / 1000) + MARGIN)
end

local function answer(admits, first, second)
  admitted = admitted and admits
  reply[#reply + 1] = admits and 1 or 0
  reply[#reply + 1] = first
  reply[#reply + 1] = second
end

-- Returns the two numbers of a state, 0 and 0 for no state, nil for a corrupt
-- one. More than one pattern may be tried.
local function read(key, ...)
  local stored = redis.pcall('GET', key)
  if not stored then
    return 0, 0
  end
  if type(stored) ~= 'string' then
    return nil
  end
  for _, pattern in ipairs({...}) do
    local first, second = string.match(stored, pattern)
    if first then
      first, second = tonumber(first), tonumber(second)
      if first < EXACT and second < EXACT then
        return first, second
      end
    end
  end
  return nil
end

-- tokenBucket.stand and charge in Go: change both together.
local function bucket(key, cost, cost_rest, empty, empty_rest, unit)
  local full, rest = read(key, '^(%d+)(%d%d%d)$', '^(%d+)%.(%d+)$')
  if not full then
    return found_corrupt(key, 'TokenBucket', empty)
  end
  if rest >= unit then
    full, rest = full + 1, 0
  end
  local debt = full - now
  if debt < 0 then
    debt, rest = 0, 0
  elseif debt > empty or (debt == empty and rest > empty_rest) then
    -- The clock stepped back, or the burst was lowered.
    debt, rest = empty, empty_rest
  end
  local after, after_rest = debt + cost, rest + cost_rest
  if after_rest >= unit then
    after, after_rest = after + 1, after_rest - unit
  end
  local admits = after < empty or (after == empty and after_rest <= empty_rest)
  answer(admits, debt, rest)
  if admits and (cost > 0 or cost_rest > 0) then
    local form = unit <= 1000 and '%.0f%03.0f' or '%.0f.%.0f'
    prepare(key, string.format(form, now + after, after_rest), after + 1)
  end
end

-- fixedWindow.stand and charge in Go: change both together.
local function window(key, cost, requests, length)
  local number, count = read(key, '^(%d+)(%d%d%d%d%d%d%d%d%d%d)$')
  if not number then
    return found_corrupt(key, 'FixedWindow', length)
  end
  local elapsed = now % length
  local current = (now - elapsed) / length
  if number < current then
    count = 0
  elseif count > requests then
    -- Requests was lowered. A later window than the current one is left by a
    -- clock that stepped back; its count holds for the current one.
    count = requests
  end
  local admits = count + cost <= requests
  answer(admits, count, length - elapsed)
  if admits and cost > 0 then
    prepare(key, string.format('%.0f%010.0f', current, count + cost), length - elapsed)
  end
end

local at = 1
local function number(offset)
  return tonumber(ARGV[at + offset])
end

for _, key in ipairs(KEYS) do
  if ARGV[at] == 'bucket' then
    bucket(key, number(1), number(2), number(3), number(4), number(5))
    at = at + 6
  elseif ARGV[at] == 'window' then
    window(key, number(1), number(2), number(3))
    at = at + 4
  else
    return redis.error_reply('ERR unknown algorithm ' .. tostring(ARGV[at]))
  end
end

if corrupt then
  return redis.error_reply('CORRUPT counter of a ' .. corrupt .. '; it expires by itself, or delete the key')
end
if admitted then
  for i = 1, #writes, 3 do
    redis.call('SET', writes[i], writes[i + 1], 'PX', writes[i + 2])
  end
end
return reply
