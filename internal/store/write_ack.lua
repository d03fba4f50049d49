-- Copyright The Penstock Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Writes one pod's ack, stamped with the store's time, and announces it on the
-- channel that has the key's name if its content differs from the last one.
--
-- KEYS[1]  hash: the namespace's acks, by pod uid "<time in µs> <content>"
-- ARGV[1]  pod uid; also the message
-- ARGV[2]  content (JSON)
-- ARGV[3]  time in ms after which the namespace's acks expire without a beat
-- returns  1 when announced, 0 when the content was the same
local time = redis.call('TIME')
local now = string.format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2]))
local before = redis.call('HGET', KEYS[1], ARGV[1])
local changed = true
if before then
  local gap = string.find(before, ' ', 1, true)
  changed = not gap or string.sub(before, gap + 1) ~= ARGV[2]
end
redis.call('HSET', KEYS[1], ARGV[1], now .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if not changed then
  return 0
end
redis.call('PUBLISH', KEYS[1], ARGV[1])
return 1
