-- Copyright The Penstock Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Reads what stands for a namespace, without the body. Writes nothing.
--
-- KEYS[1]  hash: the namespace's rules
-- returns  {sequence, revision, format, policies (JSON), SHA-1 of the body in hex,
--          the store's time in µs}, all as text, '' where absent. A key that is no
--          hash reads as absent: a publication replaces it.
local time = redis.call('TIME')
local now = string.format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2]))
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then
  return {'', '', '', '', '', now}
end
local fields = redis.call('HMGET', KEYS[1], 'sequence', 'revision', 'format', 'policies', 'body')
local digest = ''
if fields[5] then
  digest = redis.sha1hex(fields[5])
end
return {fields[1] or '', fields[2] or '', fields[3] or '', fields[4] or '', digest, now}
