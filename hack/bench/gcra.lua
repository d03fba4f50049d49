-- Copyright The Penstock Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- The least that a token bucket in Redis can be: what a user writes by hand. It has
-- floats in it, and neither rounding nor clock steps are thought of.
--
-- KEYS[1]  the counter
-- ARGV     what one request takes to refill, and the whole burst, in microseconds
-- Returns 1 if admitted, else 0.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = tonumber(redis.call('GET', KEYS[1]) or 0)
if full < now then
  full = now
end
full = full + ARGV[1]
if full - now > tonumber(ARGV[2]) then
  return 0
end
redis.call('SET', KEYS[1], string.format('%d', full), 'PX', math.ceil((full - now) / 1000) + 1000)
return 1
