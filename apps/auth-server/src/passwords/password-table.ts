import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import type { Columns } from '../generated/rows.ts';

const loginRow = z.object({
  user_id: z.string().nullable(),
  encoded: z.string().nullable(),
  set_at: z.date().nullable(),
  is_known_device: z.boolean(),
});

/** The person who may sign in with an address. */
export interface Login {
  /** Undefined when nobody has the address. */
  readonly userId: string | undefined;
  readonly encoded: string | undefined;
  /** Since when the person has this password; null without one. */
  readonly setAt: Date | null;
  /** Whether the person has signed in in this browser before. */
  readonly isKnownDevice: boolean;
}

/** The person with an address: one query, whether there is one or not. */
export async function findLogin(pool: Pool, email: string, deviceDigest: string | undefined): Promise<Login> {
  const { rows } = await pool.query({
    name: 'find_login',
    text: `select u.id as user_id, p.encoded, p.set_at, d.digest is not null as is_known_device
           from (select $1::text as email) sought
           left join unique_key k on k.resource_type = 'users' and k.attribute = 'email' and k.value = sought.email
           left join resource u on u.id = k.resource_id and u.lifecycle_state = 'active'
           left join password p on p.user_id = u.id
           left join known_device d on d.digest = $2 and d.user_id = u.id`,
    values: [email, deviceDigest ?? null],
  });
  const row = loginRow.parse(rows[0]);
  return {
    userId: row.user_id ?? undefined,
    encoded: row.encoded ?? undefined,
    setAt: row.set_at,
    isKnownDevice: row.is_known_device,
  };
}

/** Stores a password in place of the one before. Answers its time, which no other password of the person has. */
export async function savePassword(pool: Pool, userId: string, encoded: string, now: Date): Promise<Date> {
  const { rows } = await pool.query<Columns<'password', 'set_at'>>(
    `insert into password as p (user_id, encoded, set_at) values ($1, $2, $3)
     on conflict (user_id) do update
       set encoded = excluded.encoded, set_at = greatest(excluded.set_at, p.set_at + interval '1 millisecond')
     returning set_at`,
    [userId, encoded, now],
  );
  return rows[0]!.set_at;
}

/** Stores another hash of the same password, unless the password was changed meanwhile. */
export async function replaceHash(pool: Pool, userId: string, before: string, encoded: string): Promise<void> {
  await pool.query('update password set encoded = $3 where user_id = $1 and encoded = $2', [userId, before, encoded]);
}

/** Remembers a browser in which a person has signed in. */
export async function insertDevice(pool: Pool, digest: string, userId: string, now: Date): Promise<void> {
  await pool.query('insert into known_device (digest, user_id, since) values ($1, $2, $3)', [digest, userId, now]);
}

/** Forgets every browser of a person. */
export async function deleteDevices(pool: Pool, userId: string): Promise<void> {
  await pool.query('delete from known_device where user_id = $1', [userId]);
}
