import type { Columns } from '@longwave/audience-store';
import type { Transaction } from '@longwave/postgres';
import type { AdRow, Counts, WrittenRow } from '../counting/counted-rows.ts';
import { placeOf, type AdEntry, type AdPlace } from './ad-entry.ts';
import { bitOf, quarterOf, readReached, type CohortMove } from './cohort-table.ts';

/** A serving whose row is locked, with the billable entry that stands. Without a line item its decision is not known. */
interface LockedServing extends Columns<
  'ad_serving',
  'serving_id' | 'billed' | 'reached' | 'line_item_id' | 'workspace_id' | 'surface_class',
  { billed: AdPlace | null }
> {
  /** Of the decision. */
  readonly quarter: string | null;
  /** The only session that wrote it, where no session did before this transaction. */
  readonly firstSession: AdRow | WrittenRow | undefined;
}

const undecided = {
  billed: null,
  reached: 0,
  line_item_id: null,
  workspace_id: null,
  surface_class: null,
  quarter: null,
} satisfies Partial<LockedServing>;

/** The bits of a serving that its sessions decide; reports decide the others. */
const bitsOfSessions = bitOf('served') | bitOf('delivered') | bitOf('held');

/** Locks servings in the order of their ids until the transaction ends; answers those that nobody knew, which get a row. */
export async function holdServings(tx: Transaction, servingIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<Columns<'ad_serving', 'serving_id'>>(
    // A row that is there is locked by the update, and as its condition is false, it gets no new version.
    `insert into ad_serving as s (serving_id) select unnest($1::text[]) as serving_id order by 1
     on conflict (serving_id) do update set reached = s.reached where false returning serving_id`,
    [servingIds],
  );
  return new Set(rows.map((row) => row.serving_id));
}

/**
 * Locks servings, and answers what is stored of them.
 * @param after the sessions of this transaction, already stored
 */
export async function lockServings(
  tx: Transaction,
  servingIds: readonly string[],
  after: Pick<Counts, 'ads' | 'written'>,
): Promise<LockedServing[]> {
  const isNew = await holdServings(tx, servingIds);
  const { rows: known } = await tx.query<Omit<LockedServing, 'firstSession'>>(
    // By index for each of them, whatever the statistics say.
    `select s.* from unnest($1::text[]) as k (id) cross join lateral (
       select serving_id, billed, reached, line_item_id, workspace_id, surface_class, ${quarterOf('decided_at')}::text as quarter
       from ad_serving where serving_id = k.id offset 0) s`,
    [servingIds.filter((servingId) => !isNew.has(servingId))],
  );
  const sessions = Map.groupBy<string, AdRow | WrittenRow>([...after.ads, ...after.written], (row) => row.serving_id);
  // Of two the first by the database's order of texts counts, which only the database knows.
  const onlySession = (servingId: string) => {
    const [first, ...others] = sessions.get(servingId) ?? [];
    return others.length === 0 ? first : undefined;
  };
  return [
    ...[...isNew].map((serving_id) => ({ serving_id, ...undecided, firstSession: onlySession(serving_id) })),
    ...known.map((row) => {
      const isFirst = row.line_item_id !== null && row.billed === null && (row.reached & bitsOfSessions) === 0;
      return { ...row, firstSession: isFirst ? onlySession(row.serving_id) : undefined };
    }),
  ];
}

/**
 * Stages that a serving reaches once, in the earliest of the sessions that reach it, by the start of the session; each with the least rank
 * of such a session.
 */
const stagesOfServings = { served: 0, confirmed: 2, billable: 3 } as const;
type ServingStage = keyof typeof stagesOfServings;
const servingStages = Object.keys(stagesOfServings) as ServingStage[];

/** A session that wrote a serving. */
interface ServingSession {
  readonly place: AdPlace;
  /** 0: it does not deliver it; 1: in a download that is held; 2: in a counted one; 3: in one that is billed besides. */
  readonly rank: number;
}

const rankOf = (row: AdRow | WrittenRow) =>
  'counted' in row ? 1 + Number(row.counted) * (1 + Number(row.billable)) : 0;

const rowColumns = `listener_key, episode_id, window_on, serving_id, started_at, workspace_id, podcast_id, campaign_id, line_item_id,
  creative_id, break_key, slot, country, region, app, device, platform, operating_system`;
const inOrder = 'started_at, listener_key, episode_id, window_on, break_key, slot, creative_id';

/** The earliest session of each serving and rank, in their order. */
const earliest = `
  select rank, to_json(own) as row from unnest($1::text[]) as serving (id)
  cross join lateral (
    select distinct on (rank) rank, ${rowColumns} from (
      select ${rowColumns}, 1 + counted::int * (1 + billable::int) as rank from ad_delivered where serving_id = serving.id
      union all
      select ${rowColumns}, 0 from ad_written where serving_id = serving.id) each_session
    order by rank, ${inOrder}) own
  order by ${inOrder}`;

/** The entries of the ledger that stand. Of billable ones each serving knows its own. */
const standing = `
  select stage, to_json(place) as row from (
    select stage, serving_id, listener_key, window_on, workspace_id, podcast_id, episode_id, campaign_id, line_item_id, creative_id,
      break_key, slot, hour as started_at, country, region, app, device, platform, operating_system
    from ad_entry where serving_id = any($1) and stage in ('served', 'confirmed')
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 having sum(quantity) > 0) place`;

const nameOf = (stage: ServingStage, servingId: string) => `${stage} ${servingId}`;

/** Reads places that belong to servings. */
async function readPlaces<R extends object>(
  tx: Transaction,
  text: string,
  servingIds: readonly string[],
): Promise<(R & { readonly place: AdPlace })[]> {
  if (servingIds.length === 0) return [];
  const { rows } = await tx.query<R & { row: WrittenRow }>(text, [servingIds]);
  return rows.map((one) => ({
    ...one,
    place: placeOf({ ...one.row, started_at: new Date(one.row.started_at).toISOString() }),
  }));
}

/** The changes of servings: entries of the ledger, bills and cohorts. */
interface MovedServings {
  /** Of the ledger. */
  readonly entries: readonly AdEntry[];
  /** The billable entries that stand from now on, of the servings whose entry is another one. */
  readonly bills: ReadonlyMap<string, AdPlace | null>;
  readonly moves: readonly CohortMove[];
}

/**
 * Lets each serving be served, confirmed and billed at most once: in the earliest of its sessions that write it, that deliver it in a counted
 * download, and that bill it besides. When that one is taken back, the stage moves to the next. What a serving adds to its cohort follows
 * from the same sessions, so the order of what happened to it does not matter.
 */
export async function moveServings(tx: Transaction, servings: readonly LockedServing[]): Promise<MovedServings> {
  const known = servings.flatMap((one) => (one.firstSession ? [] : [one.serving_id]));
  const entries = await readPlaces<{ readonly stage: ServingStage }>(tx, standing, known);
  const was = new Map(entries.map(({ stage, place }) => [nameOf(stage, place.serving_id), place]));
  for (const { serving_id, billed } of servings) if (billed) was.set(nameOf('billable', serving_id), billed);
  const stored = await readPlaces<{ readonly rank: number }>(tx, earliest, known);
  const sessions: Map<string, ServingSession[]> = Map.groupBy(stored, ({ place }) => place.serving_id);
  for (const { serving_id, firstSession: row } of servings)
    if (row) sessions.set(serving_id, [{ place: placeOf(row), rank: rankOf(row) }]);
  const moved = servings.flatMap(({ serving_id: servingId }) =>
    servingStages
      .map((stage) => ({
        servingId,
        stage,
        was: was.get(nameOf(stage, servingId)),
        due: sessions.get(servingId)?.find(({ rank }) => rank >= stagesOfServings[stage])?.place,
      }))
      .filter((one) => JSON.stringify(one.was) !== JSON.stringify(one.due)),
  );
  const bills = moved.filter(({ stage }) => stage === 'billable');
  return {
    entries: moved.flatMap(({ stage, was: old, due: next }) => [
      ...(old ? [{ ...old, stage, quantity: -1 }] : []),
      ...(next ? [{ ...next, stage, quantity: 1 }] : []),
    ]),
    bills: new Map(bills.map((one) => [one.servingId, one.due ?? null])),
    moves: await moveReached(tx, servings, sessions),
  };
}

/** The changes of cohorts by servings that have these sessions. */
async function moveReached(
  tx: Transaction,
  servings: readonly LockedServing[],
  sessions: ReadonlyMap<string, readonly ServingSession[]>,
): Promise<CohortMove[]> {
  const held: string[] = [];
  const moves: CohortMove[] = [];
  for (const { serving_id, reached: was, line_item_id, workspace_id, surface_class, quarter } of servings) {
    if (line_item_id === null || workspace_id === null || surface_class === null || quarter === null) continue;
    const ranks = (sessions.get(serving_id) ?? []).map(({ rank }) => rank);
    const isDelivered = ranks.some((rank) => rank >= stagesOfServings.confirmed);
    // Whether a person has rejected what is held is stored with days.
    if (!isDelivered && ranks.includes(1)) {
      held.push(serving_id);
      continue;
    }
    const now =
      (was & ~bitsOfSessions) | (ranks.length > 0 ? bitOf('served') : 0) | (isDelivered ? bitOf('delivered') : 0);
    moves.push({ serving_id, line_item_id, workspace_id, surface_class, quarter, was, now });
  }
  return held.length > 0 ? [...moves, ...(await readReached(tx, held))] : moves;
}

/** Stores what has changed of servings, each once. The caller has locked them. */
export async function saveServings(
  tx: Transaction,
  moves: readonly CohortMove[],
  bills: MovedServings['bills'] = new Map(),
): Promise<void> {
  const reached = new Map(
    moves.flatMap(({ serving_id, was, now }) => (was === now ? [] : [[serving_id, now] as const])),
  );
  const changed = [...new Set([...reached.keys(), ...bills.keys()])];
  if (changed.length === 0) return;
  await tx.query(
    `update ad_serving s set reached = coalesce(k.reached, s.reached), billed = case when k.moves then k.billed else s.billed end
     from json_to_recordset($1) as k (id text, reached int, moves boolean, billed json) where s.serving_id = k.id`,
    [
      JSON.stringify(
        changed.map((id) => ({ id, reached: reached.get(id), moves: bills.has(id), billed: bills.get(id) })),
      ),
    ],
  );
}
