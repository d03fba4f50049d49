-- Copyright The Penstock Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Publishes a namespace's rule set if the publication that the writer read still
-- stands, and announces it on the channel that has the key's name.
--
-- KEYS[1]  hash: the namespace's rules
-- ARGV[1]  sequence of the publication that is replaced, as it stands, '' for none
-- ARGV[2]  new sequence: a larger integer; also the message
-- ARGV[3]  revision of the content
-- ARGV[4]  version of the compiled form
-- ARGV[5]  encoded rule set
-- ARGV[6]  JSON: by policy its revision and the sequence of its last change
-- returns  1 when published, 0 when another publication stands
--
-- Sequences stay the text that came in: no number of Lua is printed. The field
-- `live` is left as it is. The key gets no TTL: limits outlive the operator.
local kind = redis.call('TYPE', KEYS[1]).ok
local standing = ''
if kind == 'hash' then
  standing = redis.call('HGET', KEYS[1], 'sequence') or ''
end
if standing ~= ARGV[1] then
  return 0
end
if kind ~= 'hash' and kind ~= 'none' then
  redis.call('DEL', KEYS[1])
end
redis.call('HSET', KEYS[1], 'sequence', ARGV[2], 'revision', ARGV[3],
  'format', ARGV[4], 'body', ARGV[5], 'policies', ARGV[6])
redis.call('PERSIST', KEYS[1])
redis.call('PUBLISH', KEYS[1], ARGV[2])
return 1
