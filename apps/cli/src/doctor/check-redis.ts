import { Redis } from 'ioredis';
import type { Check } from '../checks/check.ts';
import { readInfo } from '../checks/redis-info.ts';
import { within } from '../checks/within.ts';

const part = 'Redis';
const oldestMajor = 7;

/** A member of CONFIG; undefined where this login may not read it, as that of a service may not. */
async function configured(redis: Redis, member: string): Promise<string | undefined> {
  const [, value] = await redis.config('GET', member).catch(() => []);
  return value;
}

/** A setting that loses messages with any other value than this one. */
function checkSetting(name: string, found: string | undefined, right: string): Check {
  if (found === undefined)
    return { part, name, well: true, says: `not known: this login may not read it. It must be ${right}` };
  const well = found === right;
  const advice = `Set ${name} ${right} in redis.conf: an event that was published is not published again.`;
  return { part, name, well, says: found, ...(!well && { advice }) };
}

async function look(redis: Redis): Promise<readonly Check[]> {
  await redis.connect();
  const field = readInfo(await redis.info());
  const version = field('redis_version') ?? '0';
  const isNew = Number(version.split('.')[0]) >= oldestMajor;
  const keepsLog = field('aof_enabled');
  return [
    {
      part,
      name: 'login',
      well: isNew,
      says: `version ${version}, as user ${redis.options.username || 'default'}`,
      ...(!isNew && { advice: `Longwave needs Redis ${oldestMajor} or newer.` }),
    },
    checkSetting('appendonly', keepsLog && (keepsLog === '1' ? 'yes' : 'no'), 'yes'),
    checkSetting('appendfsync', await configured(redis, 'appendfsync'), 'always'),
    checkSetting('maxmemory-policy', field('maxmemory_policy'), 'noeviction'),
  ];
}

/** The Redis of REDIS_URL: whether it lets this login in, is new enough, keeps every acknowledged write and evicts nothing. */
export async function checkRedis(url: string): Promise<readonly Check[]> {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 5_000, retryStrategy: () => null });
  // A refused login is an event; the call then fails because the connection is closed.
  let refusal: Error | undefined;
  redis.on('error', (error: Error) => (refusal ??= error));
  try {
    return await within(() => look(redis));
  } catch (error) {
    const { message, code = '' } = (refusal ?? error) as Error & { readonly code?: string };
    const says = message || code || 'does not answer';
    const advice =
      'Check host, port, user and password of REDIS_URL, the firewall, and for rediss:// NODE_EXTRA_CA_CERTS.';
    return [{ part, name: 'login', well: false, says, advice }];
  } finally {
    redis.disconnect();
  }
}
