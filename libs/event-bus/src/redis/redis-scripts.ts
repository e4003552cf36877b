/**
 * Lua, so that a step and the check of its lease are one. Scripts of a partition's owner take the lease as KEYS[1] and its
 * fencing token as ARGV[1]; an owner whose lease ended gets the error LEASELOST and changes nothing.
 */
const fenced = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('LEASELOST another consumer owns this partition') end
`;

/**
 * Scripts that consume or free memory must run when Redis has reached `maxmemory`: else nothing would ever become free again.
 * The flag needs Redis 7.
 */
const allowedWhenFull = '#!lua flags=allow-oom';

/** Lua functions: the order of stream ids, and the last id that was delivered to a group. */
const idIsBefore = `
local function is_before(a, b)
  local a_ms, a_seq = string.match(a, '(%d+)-(%d+)')
  local b_ms, b_seq = string.match(b, '(%d+)-(%d+)')
  a_ms, b_ms = tonumber(a_ms), tonumber(b_ms)
  return a_ms < b_ms or (a_ms == b_ms and tonumber(a_seq) < tonumber(b_seq))
end
local function delivered(stream, group)
  for _, info in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
    local found, last = false, '0-0'
    for i = 1, #info, 2 do
      if info[i] == 'name' then found = info[i + 1] == group end
      if info[i] == 'last-delivered-id' then last = info[i + 1] end
    end
    if found then return last end
  end
  return '0-0'
end
`;

/** The one consumer name inside each Redis group: who owns the partition is the lease's business. */
const consumer = 'owner';

/**
 * Renews the membership and the leases of one member and takes free partitions up to its fair share; a leaving member has none.
 * KEYS: members, fence, lease of each partition. ARGV: member, lease ms, stay or leave.
 * Answers [share, partition, token, partition, token …].
 */
export const renewScript = `${allowedWhenFull}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if ARGV[3] == 'leave' then redis.call('ZREM', KEYS[1], ARGV[1]) else redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1]) end
local members = redis.call('ZRANGE', KEYS[1], 0, -1)
table.sort(members)
local rank = 0
for i, member in ipairs(members) do if member == ARGV[1] then rank = i end end
local partitions = #KEYS - 2
local share = 0
if rank > 0 then share = math.floor(partitions / #members) end
if rank > 0 and rank <= partitions % #members then share = share + 1 end
local mine, free = {}, {}
for p = 0, partitions - 1 do
  local token = redis.call('GET', KEYS[p + 3])
  if not token then
    free[#free + 1] = p
  elseif string.sub(token, 1, #ARGV[1] + 1) == ARGV[1] .. '/' then
    redis.call('PEXPIRE', KEYS[p + 3], ARGV[2])
    mine[#mine + 1] = p
    mine[#mine + 1] = token
  end
end
for _, p in ipairs(free) do
  if #mine / 2 >= share then break end
  local token = ARGV[1] .. '/' .. redis.call('INCR', KEYS[2])
  if redis.call('SET', KEYS[p + 3], token, 'NX', 'PX', ARGV[2]) then
    mine[#mine + 1] = p
    mine[#mine + 1] = token
  end
end
return {share, unpack(mine)}`;

/** KEYS: lease. ARGV: token. */
export const releaseScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * Reads messages never read before. KEYS: lease, stream, and for a topic's own stream: the last id that left it, the group's
 * redrive stream. ARGV: token, group, count. Answers [entries, last id of the stream]; no entries while the group's redrive
 * stream has some or must still get some from the archive, which come first.
 */
export const fetchScript = `${fenced}${idIsBefore}
local function last_id()
  local info = redis.call('XINFO', 'STREAM', KEYS[2])
  for i = 1, #info, 2 do if info[i] == 'last-generated-id' then return info[i + 1] end end
  return '0-0'
end
if KEYS[3] then
  if redis.call('XLEN', KEYS[4]) > 0 then return {{}, last_id()} end
  local archived = redis.call('GET', KEYS[3])
  if archived and is_before(delivered(KEYS[2], ARGV[2]), archived) then return {{}, last_id()} end
end
local reply = redis.call('XREADGROUP', 'GROUP', ARGV[2], '${consumer}', 'COUNT', ARGV[3], 'STREAMS', KEYS[2], '>')
if reply then return {reply[1][2], ''} end
return {{}, last_id()}`;

/** Reads messages handed over but not acknowledged, oldest first. Keys and arguments as above. Answers [[id, tries, fields] …]. */
export const pendingScript = `${fenced}
local held = {}
for _, pending in ipairs(redis.call('XPENDING', KEYS[2], ARGV[2], '-', '+', ARGV[3])) do
  local entry = redis.call('XRANGE', KEYS[2], pending[1], pending[1])[1]
  if entry then held[#held + 1] = {pending[1], pending[4], entry[2]} else redis.call('XACK', KEYS[2], ARGV[2], pending[1]) end
end
return held`;

/** Sets how often a pending message was handed over. KEYS: lease, stream. ARGV: token, group, id, tries. */
export const recordTryScript = `${fenced}
return #redis.call('XCLAIM', KEYS[2], ARGV[2], '${consumer}', 0, ARGV[3], 'RETRYCOUNT', ARGV[4], 'JUSTID')`;

/** Moves a pending message to the dead letters. KEYS: lease, stream, dead letters. ARGV: token, group, id, delete (1 or 0), fields. */
export const buryScript = `${allowedWhenFull}
${fenced}
redis.call('XADD', KEYS[3], '*', unpack(ARGV, 5))
redis.call('XACK', KEYS[2], ARGV[2], ARGV[3])
if ARGV[4] == '1' then redis.call('XDEL', KEYS[2], ARGV[3]) end
return 1`;

/** Moves dead letters to redrive streams. KEYS: dead letters, stream … ARGV: pairs of id and index of its stream. Answers how many. */
export const redriveScript = `
local moved = 0
for i = 1, #ARGV, 2 do
  local entry = redis.call('XRANGE', KEYS[1], ARGV[i], ARGV[i])[1]
  if entry then
    local fields = {}
    for f = 1, #entry[2], 2 do
      local name = entry[2][f]
      if name ~= 'error' and name ~= 'failed_at' then
        fields[#fields + 1] = name
        fields[#fields + 1] = entry[2][f + 1]
      end
    end
    redis.call('XADD', KEYS[2 + ARGV[i + 1]], '*', unpack(fields))
    redis.call('XDEL', KEYS[1], ARGV[i])
    moved = moved + 1
  end
end
return moved`;

/**
 * Takes entries out of a stream that are in the archive now. Those that a group still works on move to its redrive stream, so no
 * unfinished message is lost. KEYS: stream, last id that left it, then the redrive stream of each group. ARGV: last id to take
 * out, the smallest id behind it, then the groups. Answers how many left.
 */
export const trimScript = `${allowedWhenFull}
for i = 3, #KEYS do
  local group = ARGV[i]
  local pendings = redis.call('XPENDING', KEYS[1], group, '-', ARGV[1], 100000)
  for _, pending in ipairs(pendings) do
    local entry = redis.call('XRANGE', KEYS[1], pending[1], pending[1])[1]
    if entry then redis.call('XADD', KEYS[i], '*', unpack(entry[2])) end
    redis.call('XACK', KEYS[1], group, pending[1])
  end
end
redis.call('SET', KEYS[2], ARGV[1])
return redis.call('XTRIM', KEYS[1], 'MINID', ARGV[2])`;

/**
 * Brings archived entries to one group: adds them to its redrive stream and moves its place in the topic's stream behind them.
 * Changes nothing when the group was moved by somebody else. KEYS: stream, redrive stream. ARGV: group, its place so far, its
 * place afterwards, then each entry's fields as a JSON array. Answers 1 when done.
 */
export const refillScript = `${idIsBefore}
if delivered(KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
for i = 4, #ARGV do redis.call('XADD', KEYS[2], '*', unpack(cjson.decode(ARGV[i]))) end
redis.call('XGROUP', 'SETID', KEYS[1], ARGV[1], ARGV[3])
return 1`;
