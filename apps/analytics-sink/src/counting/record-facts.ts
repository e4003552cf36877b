import {
  countSessions,
  countRollingDownloads,
  describeUserAgent,
  classifyFact,
  classifyUserAgent,
  servedBytesOf,
  splitListeners,
  velocityLimits,
  type AudienceLists,
  type Layout,
  type ServedBytes,
  type Track,
  type UserAgentDescription,
  type UserAgentVerdict,
  type VelocityLimits,
} from '@longwave/audience';
import type { DeliveryEvent, DeliveryFact } from '@longwave/events';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import { recordEvents, settleEvents } from './client-event-table.ts';
import { readChangeBasis, type ChangeBasis } from './change-basis.ts';
import {
  rollingRow,
  sessionRows,
  type AdRow,
  type Counts,
  type RollingRow,
  type SessionRow,
  type WrittenRow,
} from './counted-rows.ts';
import {
  insertFacts,
  insertLayouts,
  isFactDuplicate,
  layoutDigest,
  saveJudgements,
  takePendingFacts,
  type AwaitedNames,
  type ClassifiedFact,
} from './fact-table.ts';
import { withoutRemovedTimes } from './fact-retention.ts';
import { isDeclared, takeGrownProbes } from './grown-probes.ts';
import { applyVelocity } from '../velocity/apply-velocity.ts';
import { lockChains } from './listener-episode-table.ts';
import { addToRequests, loadRecountWindows, type RecountWindow, type StoredRequest } from './request-table.ts';
import { saveCounts } from './save-counts.ts';
import { loadCounts } from './session-table.ts';
import { findTracks, insertTrackParts } from './track-table.ts';
import { findUserAgents, insertUserAgents } from './user-agent-table.ts';

/** The verdict on a user agent and its description. */
interface KnownUserAgent extends UserAgentDescription {
  readonly verdict: UserAgentVerdict;
}

/** A cache between batches; every entry is a pure function of its key, or is stored. */
export interface CountingMemory {
  readonly agents: Map<string, KnownUserAgent>;
  readonly layouts: Map<string, Layout>;
  readonly storedLayouts: Set<string>;
  readonly tracks: Map<string, Track>;
}

export function createCountingMemory(): CountingMemory {
  return { agents: new Map(), layouts: new Map(), storedLayouts: new Set(), tracks: new Map() };
}

/** The lists and limits that facts are classified by. */
interface CountingRules {
  readonly lists: AudienceLists;
  readonly limits: VelocityLimits;
}

const maxEntries = 20_000;
/** A track has some thousand cells. */
const maxTracks = 200;

/** Bounds the memory: a full part is cleared. */
function trim(memory: CountingMemory): void {
  for (const part of [memory.agents, memory.layouts, memory.storedLayouts]) if (part.size > maxEntries) part.clear();
  if (memory.tracks.size > maxTracks) memory.tracks.clear();
}

/** Whether the judgement of this fact needs its user agent. */
const needsUserAgent = (fact: ServedBytes) => classifyFact(fact, undefined) === undefined;

/** Reads the user agents whose texts are stored into the memory. */
async function readUserAgents(
  tx: Transaction,
  digests: Iterable<string>,
  { userAgents }: AudienceLists,
  { agents }: CountingMemory,
): Promise<void> {
  const unknown = [...new Set(digests)].filter((digest) => !agents.has(digest));
  if (unknown.length === 0) return;
  for (const [digest, text] of await findUserAgents(tx, unknown))
    agents.set(digest, { verdict: classifyUserAgent(userAgents, text), ...describeUserAgent(userAgents, text) });
}

const verdictIn =
  ({ agents }: CountingMemory) =>
  (digest: string | null) =>
    agents.get(digest ?? '')?.verdict;

/** Reads tracks all of whose parts are described into the memory. */
async function readTracks(tx: Transaction, digests: Iterable<string>, { tracks }: CountingMemory): Promise<void> {
  const unknown = [...new Set(digests)].filter((digest) => !tracks.has(digest));
  if (unknown.length === 0) return;
  for (const [digest, track] of await findTracks(tx, unknown)) tracks.set(digest, track);
}

/** Classifies facts; the judgement is undefined while a user agent or a track is unknown. */
async function classifyFacts(
  tx: Transaction,
  facts: readonly ServedBytes[],
  lists: AudienceLists,
  memory: CountingMemory,
): Promise<ClassifiedFact[]> {
  const needed = facts.filter(needsUserAgent).map((fact) => fact.user_agent_digest!);
  await readUserAgents(tx, needed, lists, memory);
  await readTracks(
    tx,
    facts.flatMap((fact) => fact.track ?? []),
    memory,
  );
  const verdictOf = verdictIn(memory);
  return facts.map((fact) => ({
    fact,
    judgement: classifyFact(
      fact,
      verdictOf(fact.user_agent_digest),
      fact.requested,
      memory.tracks.has(fact.track ?? ''),
    ),
  }));
}

/** Counts the requests of recount windows, as if rule 16 held nothing. */
function countWindows(
  recountWindows: readonly RecountWindow[],
  crowded: ReadonlySet<string>,
  agents: CountingMemory['agents'],
): Counts {
  const sessions: SessionRow[] = [];
  const rolling: RollingRow[] = [];
  const ads: AdRow[] = [];
  const written: WrittenRow[] = [];
  // Only eligible facts become requests, and an eligible fact has a known user agent.
  const agentOf = (first: StoredRequest) => agents.get(first.userAgentDigest)!;
  const listeners = recountWindows.flatMap(({ chain: { ownKeysOf }, requests }) =>
    splitListeners(requests, ({ listenerKey }) => ownKeysOf(listenerKey), crowded),
  );
  for (const requests of listeners) {
    for (const session of countSessions(requests)) {
      const rows = sessionRows(session, agentOf(session.first));
      sessions.push(rows.session);
      ads.push(...rows.ads);
      written.push(...rows.written);
    }
    for (const rollingDownload of countRollingDownloads(requests))
      if (rollingDownload.firstTouch) rolling.push(rollingRow(rollingDownload, agentOf(rollingDownload.first)));
  }
  return { sessions, rolling, ads, written };
}

/** Updates the counts with new facts of any judgement. */
async function countFacts(
  tx: Transaction,
  facts: readonly ClassifiedFact[],
  { lists, limits }: CountingRules,
  memory: CountingMemory,
  basis: ChangeBasis,
): Promise<void> {
  const eligible = await withoutRemovedTimes(
    tx,
    facts.filter((one) => one.judgement === 'eligible').map((one) => one.fact),
  );
  if (eligible.length === 0) return;
  const { chains, crowded } = await lockChains(tx, eligible);
  await addToRequests(tx, eligible);
  const recountWindows = await loadRecountWindows(tx, chains, memory);
  const digests = recountWindows.flatMap(({ requests }) => requests.map((request) => request.userAgentDigest));
  await readUserAgents(tx, digests, lists, memory);
  const counted = {
    before: await loadCounts(tx, recountWindows),
    after: countWindows(recountWindows, crowded, memory.agents),
  };
  await saveCounts(tx, await applyVelocity(tx, counted, limits), basis);
}

/**
 * Tries again as long as another transaction stores one of the same facts at the same time. It has ended then, so each further try finds
 * more of them, and has nothing to do for those.
 */
async function retryDuplicates<T>(work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!isFactDuplicate(error)) throw error;
    }
}

/**
 * Records facts and their changes of the counts in one transaction: a crash leaves all of it or nothing. Repeated facts change nothing.
 * Locks are taken in one order: user agents, tracks, layouts, facts, plays, listeners, days of keys, servings, hours, cohorts.
 *
 * Reports of players are recorded in a transaction of their own, because they lock what was reported of servings before the servings:
 * reports, their hours, servings, cohorts.
 *
 * Two more transactions follow: facts that waited for a user agent or a track, and facts of other parties that are no probes any more. Facts, user
 * agents and parts of tracks travel apart; whoever commits second sees the other, and a crash in between repeats the batch, so no fact waits for ever.
 */
export async function recordFacts(
  pool: Pool,
  facts: readonly DeliveryFact[],
  lists: AudienceLists,
  memory: CountingMemory,
  limits: VelocityLimits = velocityLimits,
): Promise<void> {
  trim(memory);
  const distinct = [...new Map(facts.map((fact) => [fact.fact_id, fact])).values()];
  const seen = distinct.filter((fact) => fact.kind === 'user_agent_seen');
  const described = distinct.filter((fact) => fact.kind === 'track_described');
  // Answers without media are for support and forecasts: they count nowhere.
  const served = distinct.flatMap((fact) =>
    fact.kind === 'byte_range_served' || fact.kind === 'media_range_served' ? [servedBytesOf(fact)] : [],
  );
  // Repetitions of a report may have different judgements, unlike those of any other fact.
  const events = facts.filter((fact) => fact.kind === 'delivery_event');
  const layouts = new Map(served.map((fact) => [layoutDigest(fact), fact] as const));
  const newLayouts = new Map([...layouts].filter(([digest]) => !memory.storedLayouts.has(digest)));
  for (const [digest, { total_bytes, parts, track }] of newLayouts)
    memory.layouts.set(digest, { totalBytes: total_bytes, parts, track });
  const record = async (tx: Transaction): Promise<AwaitedNames> => {
    const basis = await readChangeBasis(tx, lists.listsVersion);
    if (seen.length > 0) await insertUserAgents(tx, seen);
    if (described.length > 0) await insertTrackParts(tx, described);
    const classified = await classifyFacts(tx, served, lists, memory);
    if (newLayouts.size > 0) await insertLayouts(tx, newLayouts);
    const fresh = served.length > 0 ? await insertFacts(tx, classified, lists.listsVersion) : [];
    await countFacts(tx, fresh, { lists, limits }, memory, basis);
    const isFresh = new Set(fresh.map(({ fact }) => fact.fact_id));
    // A repeated fact may be of a batch that an earlier process did not finish: it may still wait for what is known by now.
    const waiting = classified
      .filter(({ fact, judgement }) => judgement === undefined || (!isFresh.has(fact.fact_id) && needsUserAgent(fact)))
      .map(({ fact }) => fact);
    return {
      agents: waiting.map((fact) => fact.user_agent_digest!),
      tracks: waiting.flatMap((fact) => fact.track ?? []),
    };
  };
  const unjudged = await retryDuplicates(() => transaction(pool, record));
  const reported = await recordReports(pool, events, lists, memory);
  for (const digest of newLayouts.keys()) memory.storedLayouts.add(digest);
  const awaited = {
    agents: [...new Set([...unjudged.agents, ...reported, ...seen.map((fact) => fact.user_agent_digest)])],
    tracks: [...new Set([...unjudged.tracks, ...described.map((fact) => fact.track)])],
  };
  if (awaited.agents.length + awaited.tracks.length > 0)
    await settlePendingFacts(pool, awaited, { lists, limits }, memory);
  const declared = new Set(served.filter(isDeclared).map((fact) => fact.request_id));
  if (declared.size > 0) await settleGrownProbes(pool, [...declared], { lists, limits }, memory);
}

/** Records the reports of players; answers the digests of the user agents that they wait for. */
async function recordReports(
  pool: Pool,
  events: readonly DeliveryEvent[],
  lists: AudienceLists,
  memory: CountingMemory,
): Promise<string[]> {
  if (events.length === 0) return [];
  return transaction(pool, async (tx) => {
    const agents = events.flatMap(({ user_agent_digest }) => user_agent_digest ?? []);
    await readUserAgents(tx, agents, lists, memory);
    return recordEvents(tx, events, verdictIn(memory), lists.listsVersion);
  });
}

/**
 * Counts facts that were classified as probes before more of their request arrived. Of two
 * transactions the later one sees the other's rows, and a crash in between repeats the batch.
 */
function settleGrownProbes(
  pool: Pool,
  requestIds: readonly string[],
  rules: CountingRules,
  memory: CountingMemory,
): Promise<void> {
  const { lists } = rules;
  return transaction(pool, async (tx) => {
    const grown = await takeGrownProbes(tx, requestIds);
    if (grown.length === 0) return;
    const agents = grown.flatMap(({ fact }) => fact.user_agent_digest ?? []);
    await readUserAgents(tx, agents, lists, memory);
    const verdictOf = verdictIn(memory);
    const classified = grown.map(({ fact, requested }) => ({
      fact,
      judgement: classifyFact(fact, verdictOf(fact.user_agent_digest), requested),
    }));
    await saveJudgements(tx, classified, lists.listsVersion);
    await countFacts(tx, classified, rules, memory, await readChangeBasis(tx, lists.listsVersion));
  });
}

const maxFacts = 1_000;

/** Counts the facts that wait for these user agents and tracks, when both are known; then the reports, in transactions of their own. */
async function settlePendingFacts(
  pool: Pool,
  awaited: AwaitedNames,
  rules: CountingRules,
  memory: CountingMemory,
): Promise<void> {
  const { lists } = rules;
  const settle = async (tx: Transaction): Promise<boolean> => {
    const basis = await readChangeBasis(tx, lists.listsVersion);
    const classified = await classifyFacts(tx, await takePendingFacts(tx, awaited, maxFacts), lists, memory);
    if (classified.length > 0) {
      await saveJudgements(tx, classified, lists.listsVersion);
      await countFacts(tx, classified, rules, memory, basis);
    }
    return classified.length === maxFacts;
  };
  while (await transaction(pool, settle));
  const settleReports = async (tx: Transaction): Promise<boolean> => {
    await readUserAgents(tx, awaited.agents, lists, memory);
    return (await settleEvents(tx, awaited.agents, verdictIn(memory), lists.listsVersion, maxFacts)) === maxFacts;
  };
  while (await transaction(pool, settleReports));
}
