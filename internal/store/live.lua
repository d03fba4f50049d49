-- Copyright The Penstock Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Writes the counts of live pods beside a namespace's rule set. Where there is no
-- rule set it writes nothing: a hash with this field alone would look like one.
-- It is not announced: a rollout would make every sidecar read at every pod.
--
-- KEYS[1]  hash: the namespace's rules
-- ARGV[1]  JSON: live pods by policy
-- returns  1 when written, 0 when there is no rule set
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then
  return 0
end
redis.call('HSET', KEYS[1], 'live', ARGV[1])
return 1
