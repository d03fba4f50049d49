-- Copyright The Penstock Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Corrects what limits were charged, one correction after the other. Each stands for
-- itself: one that fails leaves the others be.
--
-- KEYS  the counter of each correction; all in one cluster slot. One may occur often.
-- ARGV  for each correction its kind, when the charge was made, in microseconds since
--       the Unix epoch, and then the limit as decide.lua has it, the cost being what is
--       to be corrected. A 'queue' is a bucket whose requests went on one by one: it
--       has as two more arguments the time until it was full before the charge.
--   'back'  gives the cost back, as far as it still counts: of a bucket what was not
--           refilled since; of a queue its slot, if that is the last; of a
--           window if it is still that window, or the one before in a counter; of a
--           log the entries of that time; places are left
--   'late'  charges the cost, whatever remains, to at most one capacity below empty;
--           of places, says that their holder is still there
--
-- Returns for each correction 1 if it was made or nothing was left to correct, 2 if it
-- is a slot of a queue behind which others stand, and 0 if the counter holds something
-- else or could not be written.
--
-- The states are those of decide.lua: change both together.

local MARGIN = 1000
local EXACT = 9007199254740992

local pcall, tonumber = redis.pcall, tonumber
local match, format = string.match, string.format
local ceil, floor, min, max = math.ceil, math.floor, math.min, math.max

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

-- done says whether a command's reply is no error.
local function done(result)
  return type(result) ~= 'table' or not result.err
end

-- lifetime is how long a key lives that is in use for some microseconds more.
local function lifetime(unused)
  return format('%d', ceil(unused / 1000) + MARGIN)
end

local correct = {}

function correct.bucket(name, kind, charged, plan)
  local cost, cost_rest, most, most_rest, unit = plan[3], plan[4], plan[5], plan[6], plan[7]
  if plan[2] % 8 >= 4 then
    most, most_rest = 2 * most, 2 * most_rest
    if most_rest >= unit then
      most, most_rest = most + 1, most_rest - unit
    end
  end
  local stored, debt, rest = pcall('GET', name), 0, 0
  if not done(stored) then
    return 0
  end
  if stored then
    local full
    full, rest = match(stored, '^(%d+)(%d%d%d)$')
    if not full then
      full, rest = match(stored, '^(%d+)%.(%d+)$')
    end
    full, rest = tonumber(full), tonumber(rest)
    if not full or full >= EXACT or rest >= EXACT then
      return 0
    end
    if plan[1] == 'queue' then
      -- The last slot is free again if nobody came after.
      local slot, slot_rest = charged + plan[8], plan[9]
      local last, last_rest = slot + cost, slot_rest + cost_rest
      if last_rest >= unit then
        last, last_rest = last + 1, last_rest - unit
      end
      if full == last and rest == last_rest then
        local state = format(unit <= 1000 and '%d%03d' or '%d.%d', slot, slot_rest)
        return done(pcall('PSETEX', name, lifetime(max(0, slot - now) + 1), state)) and 1 or 0
      end
      return 2
    end
    if rest >= unit then
      full, rest = full + 1, 0
    end
    debt = full - now
    if debt < 0 then
      debt, rest = 0, 0
    elseif debt > most or (debt == most and rest > most_rest) then
      debt, rest = most, most_rest
    end
  elseif kind == 'back' then
    return 1
  end
  if kind == 'late' then
    debt, rest = debt + cost, rest + cost_rest
    if rest >= unit then
      debt, rest = debt + 1, rest - unit
    end
    if debt > most or (debt == most and rest > most_rest) then
      debt, rest = most, most_rest
    end
  else
    cost = cost - max(0, now - charged)
    if cost >= 0 then
      debt, rest = debt - cost, rest - cost_rest
      if rest < 0 then
        debt, rest = debt - 1, rest + unit
      end
      if debt < 0 then
        debt, rest = 0, 0
      end
    end
  end
  local state = format(unit <= 1000 and '%d%03d' or '%d.%d', now + debt, rest)
  return done(pcall('PSETEX', name, lifetime(debt + 1), state)) and 1 or 0
end

correct.queue = correct.bucket

function correct.window(name, kind, charged, plan)
  local cost, requests = plan[3], plan[4]
  local current, left, mine
  if plan[1] == 'window' then
    local length = plan[5]
    local elapsed = now % length
    current, left = (now - elapsed) / length, length - elapsed
    mine = floor(charged / length) >= current
  else
    for j = 5, 7 do
      local from, to = plan[j], plan[j + 1]
      if from <= now and now < to then
        current, left, mine = floor(from / 60000000), to - now, charged >= from
      end
    end
    if not current then
      return 0
    end
  end
  local stored, count = pcall('GET', name), 0
  if not done(stored) then
    return 0
  end
  if stored then
    local number
    number, count = match(stored, '^(%d+)(%d%d%d%d%d%d%d%d%d%d)$')
    number, count = tonumber(number), tonumber(count)
    if not number or number >= EXACT then
      return 0
    end
    if number < current then
      count = 0
    end
  end
  local most = plan[2] % 8 >= 4 and 2 * requests or requests
  count = min(count, most)
  if kind == 'late' then
    count = min(count + cost, most)
  elseif mine then
    count = max(0, count - cost)
  end
  if count == 0 then
    return done(pcall('DEL', name)) and 1 or 0
  end
  return done(pcall('PSETEX', name, lifetime(left), format('%d%010d', current, count))) and 1 or 0
end

correct.calendar = correct.window

function correct.counter(name, kind, charged, plan)
  local cost, requests, length = plan[3], plan[4], plan[5]
  local elapsed = now % length
  local current = (now - elapsed) / length
  local stored, before, count = pcall('GET', name), 0, 0
  if not done(stored) then
    return 0
  end
  if stored then
    local number
    number, before, count = match(stored, '^(%d+):(%d+):(%d+)$')
    number, before, count = tonumber(number), tonumber(before), tonumber(count)
    if not number or number >= EXACT or before >= EXACT or count >= EXACT then
      return 0
    end
    if number < current then
      before, count = number == current - 1 and count or 0, 0
    end
  end
  local most = plan[2] % 8 >= 4 and 2 * requests or requests
  before, count = min(before, most), min(count, most)
  local mine = floor(charged / length)
  if kind == 'late' then
    count = min(count + cost, most)
  elseif mine >= current then
    count = max(0, count - cost)
  elseif mine == current - 1 then
    before = max(0, before - cost)
  end
  if before == 0 and count == 0 then
    return done(pcall('DEL', name)) and 1 or 0
  end
  local state = format('%d:%d:%d', current, before, count)
  return done(pcall('PSETEX', name, lifetime(2 * length - elapsed), state)) and 1 or 0
end

function correct.log(name, kind, charged, plan)
  local cost, requests, length = plan[3], plan[4], plan[5]
  if kind == 'back' then
    return done(pcall('LREM', name, format('-%d', cost), format('%d', charged))) and 1 or 0
  end
  local size = pcall('LLEN', name)
  if not done(size) then
    return 0
  end
  -- Entries before low have worn off.
  local low, high, newest = 0, size, now
  if size > 0 then
    newest = tonumber(redis.call('LINDEX', name, size - 1))
    if not newest or not (newest >= 0 and newest < EXACT) then
      return 0
    end
    -- The list stays in order, also after the clock stepped back.
    newest = max(newest, now)
  end
  while low < high do
    local probe = floor((low + high) / 2)
    local entry = tonumber(redis.call('LINDEX', name, probe))
    if not entry then
      return 0
    end
    if entry > now - length then
      high = probe
    else
      low = probe + 1
    end
  end
  local most = plan[2] % 8 >= 4 and 2 * requests or requests
  local entry, entries = format('%d', newest), {}
  for j = 1, min(cost, most - size + low) do
    entries[j] = entry
  end
  for j = 1, #entries, 1000 do
    if not done(pcall('RPUSH', name, unpack(entries, j, min(j + 999, #entries)))) then
      return 0
    end
  end
  return done(pcall('PEXPIRE', name, lifetime(length))) and 1 or 0
end

function correct.places(name, kind, charged, plan)
  local cost, lease, holder = plan[3], plan[5], plan[6]
  local latest = format('%d', now + lease)
  local names, scored = {}, {}
  for j = 1, cost do
    local member = j == 1 and holder or holder .. format(':%d', j)
    names[j], scored[2 * j - 1], scored[2 * j] = member, latest, member
  end
  if kind == 'back' then
    for j = 1, cost, 1000 do
      if not done(pcall('ZREM', name, unpack(names, j, min(j + 999, cost)))) then
        return 0
      end
    end
    return 1
  end
  for j = 1, 2 * cost, 2000 do
    if not done(pcall('ZADD', name, unpack(scored, j, min(j + 1999, 2 * cost)))) then
      return 0
    end
  end
  return done(pcall('PEXPIRE', name, lifetime(lease))) and 1 or 0
end

local results, at = {}, 1
for i = 1, #KEYS do
  local kind, charged, plan, count = ARGV[at], tonumber(ARGV[at + 1]), {ARGV[at + 2]}, tonumber(ARGV[at + 3])
  for k = 1, count do
    local argument = ARGV[at + 3 + k]
    plan[k + 1] = tonumber(argument) or argument
  end
  at = at + 4 + count
  local apply = correct[plan[1]]
  if not apply then
    return redis.error_reply('ERR unknown algorithm ' .. tostring(plan[1]))
  end
  results[i] = apply(KEYS[i], kind, charged, plan)
end
return results
