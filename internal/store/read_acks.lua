-- Copyright The Penstock Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Reads a namespace's acks together with the store's time: on a cluster TIME
-- alone could come from another node's clock. Writes nothing.
--
-- KEYS[1]  hash: the namespace's acks
-- returns  {time in µs, pod uid, ack, pod uid, ack, ...}
local time = redis.call('TIME')
local result = {string.format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2]))}
for _, value in ipairs(redis.call('HGETALL', KEYS[1])) do
  result[#result + 1] = value
end
return result
