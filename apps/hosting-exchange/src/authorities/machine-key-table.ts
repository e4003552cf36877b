import { setTimeout as sleep } from 'node:timers/promises';
import type { Attributes } from '@longwave/command-catalog';
import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** A machine key of an authority, whatever became of it: old messages are verified with it. */
export interface MachineKey {
  readonly id: string;
  readonly state: string;
  /** The public key (RFC 8037), base64url. */
  readonly x: string;
  readonly purposes: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Why a key signs nothing now, in words for its owner; undefined when it does. */
export function whyNotInForce({ id, state, notBefore, notAfter }: MachineKey, now: Date): string | undefined {
  if (state === 'pending')
    return `The key is registered and not in use yet. An admin activates it with the command machine_key.activate of ${id}; then send the same again.`;
  if (state !== 'active' && state !== 'retiring') return `The key is ${state}. Sign with another key.`;
  if (now < notBefore) return `The key holds from ${notBefore.toISOString()} on.`;
  return now < notAfter ? undefined : `The key held until ${notAfter.toISOString()}. Sign with another key.`;
}

/** The keys of an authority by their ids. */
export async function findKeys(
  db: Pick<Pool, 'query'>,
  authorityId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MachineKey>> {
  const { rows } = await db.query<
    Columns<
      'machine_key',
      'id' | 'state' | 'x' | 'purposes' | 'not_before' | 'not_after' | 'overlap_until',
      { purposes: string[] }
    >
  >({
    name: 'find_keys',
    text: `select id, state, x, purposes, not_before, not_after, overlap_until from machine_key
           where authority_id = $1 and id = any($2)`,
    values: [authorityId, ids],
  });
  return new Map(
    rows.map(({ id, state, x, purposes, not_before: notBefore, not_after: notAfter, overlap_until: overlap }) => [
      id,
      { id, state, x, purposes, notBefore, notAfter: overlap !== null && overlap < notAfter ? overlap : notAfter },
    ]),
  );
}

/** Pauses between looks, 500 ms in all: a key that management activated a moment before may still be under way to this service. */
const pausesMs = [100, 200, 200];

/** Looks for keys until all of them are there and in use, four times at most. */
export async function findUntilInUse<K extends Pick<MachineKey, 'state'>>(
  ids: readonly string[],
  find: () => Promise<ReadonlyMap<string, K>>,
): Promise<ReadonlyMap<string, K>> {
  let keys = await find();
  for (const pauseMs of pausesMs) {
    if (ids.every((id) => keys.has(id) && keys.get(id)!.state !== 'pending')) break;
    await sleep(pauseMs);
    keys = await find();
  }
  return keys;
}

/** The keys of an authority by their ids. Waits a moment for those that are not known, or not in use yet. */
export const awaitKeys = (
  pool: Pool,
  authorityId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MachineKey>> => findUntilInUse(ids, () => findKeys(pool, authorityId, ids));

/** Stores a version of a key and answers whether it is newer than the one before; an older version never overwrites a newer one. */
export async function saveKey(
  tx: Transaction,
  key: { readonly id: string; readonly workspaceId: string; readonly version: number; readonly state: string },
  attributes: Attributes<'machine_keys'>,
): Promise<boolean> {
  const { id, workspaceId, version, state } = key;
  const { authority_id, jwk, purposes, not_before, not_after, overlap_until } = attributes;
  const { rowCount } = await tx.query({
    name: 'save_key',
    text: `insert into machine_key (id, workspace_id, authority_id, version, state, x, purposes, not_before, not_after, overlap_until)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
           on conflict (id) do update set version = excluded.version, state = excluded.state, not_before = excluded.not_before,
             not_after = excluded.not_after, overlap_until = excluded.overlap_until
           where machine_key.version < excluded.version`,
    values: [
      ...[id, workspaceId, authority_id, version, state, jwk.x, purposes, not_before, not_after],
      overlap_until ?? null,
    ],
  });
  return rowCount === 1;
}
