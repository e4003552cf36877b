import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { services, namesOf } from '@longwave/services';

/** Passwords by user of Redis. */
type Logins = Readonly<Record<string, string>>;

/** The operator is Redis's user `default`, and each service that uses Redis has its own. */
export const redisLogins = (
  operator: string,
  of: Readonly<Record<string, { readonly redisPassword: string }>>,
): Logins => ({
  default: operator,
  ...Object.fromEntries(
    namesOf(services).flatMap((name) => (services[name].redis ? [[name, of[name]!.redisPassword]] : [])),
  ),
});

/**
 * Lets users log in with these passwords, beside those that they have or alone. Connections that are open go on.
 * @param url of a user who may; its own password may be among those that end
 */
export async function setRedisPasswords(url: string, logins: Logins, which: 'beside' | 'alone'): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  await redis.connect();
  try {
    for (const [user, password] of Object.entries(logins)) {
      const digest = createHash('sha256').update(password).digest('hex');
      // One command, so the user has a password at every moment.
      await redis.call('ACL', 'SETUSER', user, ...(which === 'alone' ? ['resetpass'] : []), `#${digest}`);
    }
  } finally {
    redis.disconnect();
  }
}
