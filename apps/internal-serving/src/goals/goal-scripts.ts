import { scriptOf } from '../redis-script.ts';

/**
 * Keys: per line item its counter and the marker of this decision, in turn. Arguments: attempt, life of a marker in ms, then per
 * line item the slots wanted and its goal. Counts all or nothing. Answers one word per line item:
 * `counted` now, `held <attempt>` by an earlier attempt of this decision, `full <slots left>`, `other <slots held>` when an
 * earlier attempt counted another number, `uncounted` when nothing is known about the line item.
 */
export const reserveScript = scriptOf(`
local words, refused = {}, false
for i = 1, #KEYS / 2 do
  local count = redis.call('GET', KEYS[2 * i - 1])
  local held = redis.call('GET', KEYS[2 * i])
  local slots, goal = tonumber(ARGV[2 * i + 1]), tonumber(ARGV[2 * i + 2])
  if not count then words[i] = 'uncounted'
  elseif held then
    local heldSlots, attempt = string.match(held, '^(%d+) (.+)$')
    if tonumber(heldSlots) == slots then words[i] = 'held ' .. attempt
    elseif tonumber(heldSlots) < slots then words[i] = 'other ' .. heldSlots
    else words[i] = 'other 0' end
  elseif tonumber(count) + slots > goal then words[i] = 'full ' .. math.max(0, goal - tonumber(count))
  else words[i] = 'counted' end
  refused = refused or not (words[i] == 'counted' or string.sub(words[i], 1, 4) == 'held')
end
if refused then return words end
for i = 1, #KEYS / 2 do
  if words[i] == 'counted' then
    redis.call('INCRBY', KEYS[2 * i - 1], ARGV[2 * i + 1])
    redis.call('SET', KEYS[2 * i], ARGV[2 * i + 1] .. ' ' .. ARGV[1], 'PX', ARGV[2])
  end
end
return words`);

/** Keys: counter and marker of one line item and decision. Argument: the attempt whose count is given back. */
export const releaseScript = scriptOf(`
local slots, attempt = string.match(redis.call('GET', KEYS[2]) or '', '^(%d+) (.+)$')
if attempt ~= ARGV[1] then return 0 end
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('DECRBY', KEYS[1], slots) end
return redis.call('DEL', KEYS[2])`);

/** Keys: counters. Arguments: per counter its least value and the Unix time in ms when it may be forgotten. Never lowers one. */
export const raiseScript = scriptOf(`
for i = 1, #KEYS do
  local count = redis.call('GET', KEYS[i])
  if not count or tonumber(count) < tonumber(ARGV[2 * i - 1]) then redis.call('SET', KEYS[i], ARGV[2 * i - 1]) end
  redis.call('PEXPIREAT', KEYS[i], ARGV[2 * i])
end
return #KEYS`);
