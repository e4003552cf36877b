import {
  dateOf,
  isAddressInfeasible,
  isListenerInfeasible,
  keyDay,
  type HeldReason,
  type VelocityLimits,
} from '@longwave/audience';
import type { JsonRows } from '@longwave/audience-store';
import type { Transaction } from '@longwave/postgres';
import { sessionKey, type Counts, type HoldReasonOf, type SessionRow } from '../counting/counted-rows.ts';

/** Decisions that a person may take about a key and day that rule 16 holds. */
export type AnomalyDecision = 'release' | 'reject';

/** A key and UTC day (`YYYY-MM-DD`). */
export type VelocityKey = Readonly<Pick<JsonRows['velocity_day'], 'key' | 'day'>> & {
  readonly kind: 'listener' | 'address';
};

/** A row of `velocity_day`. */
export type VelocityDay = VelocityKey &
  Readonly<Pick<JsonRows['velocity_day'], 'downloads' | 'infeasible'>> & { readonly decision: AnomalyDecision | null };

export const velocityName = ({ kind, key, day }: VelocityKey) => keyDay(kind, key, day);

/** Whether downloads of this key and day are held. */
export const isHeld = ({ infeasible, decision }: VelocityDay) => infeasible && decision !== 'release';

/** Why these days hold a download. */
export function holdReasonsOfDays(days: ReadonlyMap<string, VelocityDay>): HoldReasonOf {
  const holds = (name: string) => {
    const day = days.get(name);
    return day !== undefined && isHeld(day);
  };
  return ({ listener_key, address_key, address_safe, day }): HeldReason | undefined => {
    if (holds(keyDay('listener', listener_key, day))) return 'velocity_listener';
    return !address_safe && holds(keyDay('address', address_key, day)) ? 'velocity_address' : undefined;
  };
}

/** The keys whose days can hold a row. */
function keysOf(row: Pick<SessionRow, 'listener_key' | 'address_key' | 'address_safe'>, day: string): VelocityKey[] {
  const listener: VelocityKey = { kind: 'listener', key: row.listener_key, day };
  return row.address_safe || row.address_key === ''
    ? [listener]
    : [listener, { kind: 'address', key: row.address_key, day }];
}

/** Every key whose day can hold these counts, with the change of its downloads. */
export function velocityChanges(before: Counts, after: Counts): (VelocityKey & { readonly downloads: number })[] {
  const changes = new Map<string, VelocityKey & { downloads: number }>();
  const add = (key: VelocityKey, downloads: number) => {
    const known = changes.get(velocityName(key));
    if (known === undefined) changes.set(velocityName(key), { ...key, downloads });
    else known.downloads += downloads;
  };
  for (const [counts, sign] of [
    [before, -1],
    [after, 1],
  ] as const) {
    for (const row of counts.sessions) if (row.qualified) for (const key of keysOf(row, row.window_on)) add(key, sign);
    for (const row of counts.rolling) for (const key of keysOf(row, dateOf(Date.parse(row.started_at)))) add(key, 0);
  }
  return [...changes.values()];
}

const columns = `v.kind, v.key, v.day::text, v.downloads::int, v.infeasible, v.decision`;

/**
 * Adds downloads to the keys' days and locks them until the transaction ends, addresses before listeners. Answers them with their new
 * downloads, and as feasible or not as before.
 */
export async function lockDays(
  tx: Transaction,
  changes: readonly (VelocityKey & { readonly downloads: number })[],
): Promise<VelocityDay[]> {
  const { rows } = await tx.query<VelocityDay>(
    `insert into velocity_day as v (kind, key, day, downloads)
     select kind, key, day, downloads from json_populate_recordset(null::velocity_day, $1) order by kind, key, day
     on conflict (kind, key, day) do update set downloads = v.downloads + excluded.downloads returning ${columns}`,
    [JSON.stringify(changes)],
  );
  return rows;
}

/** Episodes per podcast of listener keys' days, with the rows of `after` in place of `before`. */
async function podcastsOf(
  tx: Transaction,
  days: readonly VelocityDay[],
  before: Counts,
  after: Counts,
): Promise<Map<string, number[]>> {
  type Row = Pick<SessionRow, 'listener_key' | 'episode_id' | 'window_on' | 'podcast_id'>;
  const { rows } = await tx.query<Row>(
    `select s.listener_key, s.episode_id, s.window_on::text, s.podcast_id
     from json_populate_recordset(null::velocity_day, $1) k
     join session s on s.listener_key = k.key and s.window_on = k.day where s.qualified`,
    [JSON.stringify(days)],
  );
  const replaced = new Set(before.sessions.map(sessionKey));
  const current: Row[] = rows.filter((row) => !replaced.has(sessionKey(row)));
  current.push(...after.sessions.filter((row) => row.qualified));
  const byDay = Map.groupBy(current, (row) => keyDay('listener', row.listener_key, row.window_on));
  const counts = (own: readonly Row[]) =>
    [...Map.groupBy(own, (row) => row.podcast_id).values()].map((one) => one.length);
  return new Map([...byDay].map(([name, own]) => [name, counts(own)]));
}

/** Compares days with the limits; stores and answers those that are newly infeasible or newly feasible. */
export async function updateInfeasibleDays(
  tx: Transaction,
  days: readonly VelocityDay[],
  before: Counts,
  after: Counts,
  limits: VelocityLimits,
): Promise<VelocityDay[]> {
  const listeners = days.filter((one) => one.kind === 'listener');
  const unclear = listeners.filter((one) => one.downloads > limits.podcastEpisodes && one.downloads <= limits.episodes);
  const ofPodcasts = unclear.length > 0 ? await podcastsOf(tx, unclear, before, after) : new Map<string, number[]>();
  const infeasible = (one: VelocityDay) =>
    one.kind === 'address'
      ? isAddressInfeasible(one.downloads, limits)
      : isListenerInfeasible(ofPodcasts.get(velocityName(one)) ?? [one.downloads], limits);
  const changed = days.flatMap((one) =>
    infeasible(one) === one.infeasible ? [] : [{ ...one, infeasible: infeasible(one) }],
  );
  if (changed.length > 0)
    await tx.query(
      `update velocity_day v set infeasible = k.infeasible from json_populate_recordset(null::velocity_day, $1) k
       where (v.kind, v.key, v.day) = (k.kind, k.key, k.day)`,
      [JSON.stringify(changed)],
    );
  return changed;
}

/** The stored days of these keys; days without downloads are absent. */
export async function findDays(tx: Transaction, keys: readonly VelocityKey[]): Promise<VelocityDay[]> {
  const { rows } = await tx.query<VelocityDay>(
    `select ${columns} from json_populate_recordset(null::velocity_day, $1) k
     join velocity_day v on (v.kind, v.key, v.day) = (k.kind, k.key, k.day)`,
    [JSON.stringify(keys)],
  );
  return rows;
}

/** The keys whose days can hold these counts. */
export const velocityKeys = (counts: Counts): VelocityKey[] => velocityChanges(counts, counts);
