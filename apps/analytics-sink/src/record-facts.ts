import {
  countSessions,
  describeUserAgent,
  judgeFact,
  judgeUserAgent,
  type AudienceLists,
  type Layout,
  type UserAgentDescription,
  type UserAgentVerdict,
} from '@longwave/audience';
import type { ByteRangeServed, DeliveryFact } from '@longwave/events';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import {
  insertFacts,
  insertLayouts,
  layoutDigest,
  saveJudgements,
  takePendingFacts,
  type JudgedFact,
} from './fact-table.ts';
import { loadCounts, saveCounts, sessionRows, type Counts } from './session-table.ts';
import { addToRequests, loadRequests, lockThreads, type StoredRequest, type Thread } from './thread-table.ts';
import { findUserAgents, insertUserAgents } from './user-agent-table.ts';

const dayMs = 86_400_000;

/** What the lists say of a user agent. */
interface KnownUserAgent extends UserAgentDescription {
  readonly verdict: UserAgentVerdict;
}

/** What counting remembers between batches; every entry is a pure function of its key or known to be stored. */
export interface CountingMemory {
  readonly agents: Map<string, KnownUserAgent>;
  readonly layouts: Map<string, Layout>;
  readonly storedLayouts: Set<string>;
}

/** An empty memory. */
export function createCountingMemory(): CountingMemory {
  return { agents: new Map(), layouts: new Map(), storedLayouts: new Set() };
}

const mostEntries = 20_000;

/** Keeps the memory bounded: a full one is forgotten and filled again. */
function trim(memory: CountingMemory): void {
  for (const part of [memory.agents, memory.layouts, memory.storedLayouts]) if (part.size > mostEntries) part.clear();
}

/** True when the judgement of this fact needs its user agent. */
const needsUserAgent = (fact: ByteRangeServed) => judgeFact(fact, undefined) === undefined;

/** Remembers what the lists say of these user agents, as far as their texts are known. */
async function readUserAgents(
  tx: Transaction,
  digests: Iterable<string>,
  { userAgents }: AudienceLists,
  { agents }: CountingMemory,
): Promise<void> {
  const unknown = [...new Set(digests)].filter((digest) => !agents.has(digest));
  if (unknown.length === 0) return;
  for (const [digest, text] of await findUserAgents(tx, unknown))
    agents.set(digest, { verdict: judgeUserAgent(userAgents, text), ...describeUserAgent(userAgents, text) });
}

/** Judges facts as far as their user agents are known. */
async function judgeFacts(
  tx: Transaction,
  facts: readonly ByteRangeServed[],
  lists: AudienceLists,
  memory: CountingMemory,
): Promise<JudgedFact[]> {
  const needed = facts.filter(needsUserAgent).map((fact) => fact.user_agent_digest!);
  await readUserAgents(tx, needed, lists, memory);
  const verdict = (digest: string | null) => memory.agents.get(digest ?? '')?.verdict;
  return facts.map((fact) => ({ fact, judgement: judgeFact(fact, verdict(fact.user_agent_digest)) }));
}

/** Counts the sessions of the threads anew, from the session on that the first new fact may belong to. */
function countThreads(
  threads: readonly Thread[],
  requests: readonly StoredRequest[],
  stored: Counts,
  agents: CountingMemory['agents'],
) {
  const before = { sessions: [] as Counts['sessions'][number][], ads: [] as Counts['ads'][number][] };
  const after = { sessions: [] as Counts['sessions'][number][], ads: [] as Counts['ads'][number][] };
  const place = (listenerKey: string, episodeId: string) => `${listenerKey} ${episodeId}`;
  const requestsAt = Map.groupBy(requests, (one) => place(one.listenerKey, one.episodeId));
  const sessionsAt = Map.groupBy(stored.sessions, (one) => place(one.listener_key, one.episode_id));
  const adsAt = Map.groupBy(stored.ads, (one) => place(one.listener_key, one.episode_id));
  for (const { keys, episodeId, sinceMs } of threads) {
    const own = <T>(at: Map<string, T[]>) => keys.flatMap((key) => at.get(place(key, episodeId)) ?? []);
    const sessions = own(sessionsAt).map((row) => ({ row, startedAtMs: Date.parse(row.started_at) }));
    const starts = sessions.map((one) => one.startedAtMs).filter((at) => at <= sinceMs && at > sinceMs - dayMs);
    const fromMs = Math.max(...starts, starts.length > 0 ? -Infinity : sinceMs);
    before.sessions.push(...sessions.filter((one) => one.startedAtMs >= fromMs).map((one) => one.row));
    before.ads.push(...own(adsAt).filter((row) => Date.parse(row.started_at) >= fromMs));
    for (const session of countSessions(own(requestsAt).filter((one) => one.startedAtMs >= fromMs))) {
      // Only judged facts become requests, and only a known user agent is judged eligible.
      const rows = sessionRows(session, agents.get(session.first.userAgentDigest)!);
      after.sessions.push(rows.session);
      after.ads.push(...rows.ads);
    }
  }
  return { before, after };
}

/** Brings the counts up to date with new facts of whatever judgement. */
async function countFacts(
  tx: Transaction,
  facts: readonly JudgedFact[],
  lists: AudienceLists,
  memory: CountingMemory,
): Promise<void> {
  const eligible = facts.filter((one) => one.judgement === 'eligible').map((one) => one.fact);
  if (eligible.length === 0) return;
  const threads = await lockThreads(tx, eligible);
  await addToRequests(tx, eligible);
  const requests = await loadRequests(tx, threads, memory.layouts);
  await readUserAgents(
    tx,
    requests.map((request) => request.userAgentDigest),
    lists,
    memory,
  );
  const { before, after } = countThreads(threads, requests, await loadCounts(tx, threads), memory.agents);
  await saveCounts(tx, before, after);
}

/**
 * Records facts and everything they change in one transaction: after a crash at any point all of it happened or none. Facts seen
 * before change nothing. Locks are taken in one order: user agents, layouts, facts, listeners, hours.
 *
 * Then come facts that waited for a user agent. Facts and user agents travel apart; whoever commits second sees the other, and a
 * crash in between repeats the batch, so none waits for ever.
 */
export async function recordFacts(
  pool: Pool,
  facts: readonly DeliveryFact[],
  lists: AudienceLists,
  memory: CountingMemory,
): Promise<void> {
  trim(memory);
  const distinct = [...new Map(facts.map((fact) => [fact.fact_id, fact])).values()];
  const seen = distinct.filter((fact) => fact.kind === 'user_agent_seen');
  const served = distinct.filter((fact) => fact.kind === 'byte_range_served');
  const layouts = new Map(served.map((fact) => [layoutDigest(fact), fact] as const));
  const newLayouts = new Map([...layouts].filter(([digest]) => !memory.storedLayouts.has(digest)));
  const unjudged = await transaction(pool, async (tx) => {
    if (seen.length > 0) await insertUserAgents(tx, seen);
    const judged = await judgeFacts(tx, served, lists, memory);
    if (newLayouts.size > 0) await insertLayouts(tx, newLayouts);
    if (served.length > 0) await countFacts(tx, await insertFacts(tx, judged, lists.listsVersion), lists, memory);
    return judged.filter((one) => one.judgement === undefined).map((one) => one.fact.user_agent_digest!);
  });
  for (const digest of newLayouts.keys()) memory.storedLayouts.add(digest);
  const digests = [...new Set([...unjudged, ...seen.map((fact) => fact.user_agent_digest)])];
  if (digests.length > 0) await settlePendingFacts(pool, digests, lists, memory);
}

const mostAtOnce = 1_000;

/** Counts the facts that wait for these user agents, as far as their texts are known. */
async function settlePendingFacts(
  pool: Pool,
  digests: readonly string[],
  lists: AudienceLists,
  memory: CountingMemory,
): Promise<void> {
  for (let taken = mostAtOnce; taken === mostAtOnce;)
    taken = await transaction(pool, async (tx) => {
      const judged = await judgeFacts(tx, await takePendingFacts(tx, digests, mostAtOnce), lists, memory);
      if (judged.length === 0) return 0;
      await saveJudgements(tx, judged, lists.listsVersion);
      await countFacts(tx, judged, lists, memory);
      return judged.length;
    });
}
