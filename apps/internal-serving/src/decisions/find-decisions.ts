import { noAdReasons, verdictCodes } from '@longwave/ad-decision';
import { isId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { parseOrProblem } from '@longwave/problems';
import type { FindRequest, FindResponse } from '@longwave/rpc/serving';
import { z } from 'zod';
import type { DecisionReader } from './decision-reader.ts';
import { readDecisionRows, type DecisionPosition, type PackedRow } from './decision-table.ts';
import { readOldDecisions, type OldRow } from './old-decision-table.ts';
import type { StoredDecision } from './stored-decision.ts';

/** Decisions of a workspace within a time, the newest first. Rejects with `validation_failed` naming every wrong field. */
export type FindDecisions = (request: FindRequest) => Promise<FindResponse>;

/** Decisions that one page looks at, and those that are read at once: a few milliseconds in which nothing else is decided. */
const maxExamined = 2_000;
const chunkSize = 100;

const id = (prefix: string) => z.string().refine((text) => text === '' || isId(text, prefix));
const time = z.bigint().transform((ms) => new Date(Number(ms)));
const oneOf = <const T extends readonly string[]>(codes: T) => z.enum(['', ...codes]);

const schema = z.strictObject({
  workspaceId: id('ws').min(1),
  fromMs: time,
  toMs: time,
  podcastId: id('pod'),
  episodeId: id('ep'),
  lineItemId: id('li'),
  verdict: oneOf(verdictCodes),
  campaignId: id('cmp'),
  creativeId: id('crv'),
  outcome: oneOf(['filled', 'empty']),
  noAdReason: oneOf(noAdReasons),
  limit: z.int().min(1).max(200),
  after: z.strictObject({ atMs: time, decisionId: id('dec').min(1) }).optional(),
});

type Wanted = Omit<z.output<typeof schema>, 'workspaceId' | 'fromMs' | 'toMs' | 'limit' | 'after'>;

interface FoundDecision {
  readonly decisionId: string;
  readonly decision: StoredDecision;
}

/** An empty text stands for any. */
function isWanted(wanted: Wanted, { trace, answer }: StoredDecision): boolean {
  const is = (text: string, value: unknown) => text === '' || text === value;
  const { podcast_id: podcastId, episode_id: episodeId } = trace.request_class;
  const candidates = trace.candidates as readonly { readonly line_item_id: string; readonly verdict: string }[];
  const isAny = wanted.lineItemId === '' && wanted.verdict === '';
  const isPickOfAny = wanted.campaignId === '' && wanted.creativeId === '';
  return (
    is(wanted.podcastId, podcastId) &&
    is(wanted.episodeId, episodeId) &&
    is(wanted.outcome, answer.picks.length === 0 ? 'empty' : 'filled') &&
    is(wanted.noAdReason, answer.no_ad_reason) &&
    (isAny || candidates.some((one) => is(wanted.lineItemId, one.line_item_id) && is(wanted.verdict, one.verdict))) &&
    (isPickOfAny ||
      answer.picks.some((pick) => is(wanted.campaignId, pick.campaign_id) && is(wanted.creativeId, pick.creative_id)))
  );
}

const wireDecision = ({ decisionId, decision }: FoundDecision): FindResponse['decisions'][number] => ({
  decisionId,
  atMs: BigInt(decision.atMs),
  podcastId: decision.trace.request_class.podcast_id,
  episodeId: decision.trace.request_class.episode_id,
  servingPlanId: decision.servingPlanId ?? '',
  noAdReason: decision.answer.no_ad_reason,
  picks: decision.answer.picks.map((pick) => ({
    breakKey: pick.break_key,
    slot: pick.slot,
    campaignId: pick.campaign_id,
    lineItemId: pick.line_item_id,
    creativeId: pick.creative_id,
  })),
});

type Row = PackedRow | OldRow;

const isNewer = (a: Row, b: Row) => b.atMs - a.atMs || (a.decisionId < b.decisionId ? 1 : -1);

/**
 * Finds decisions that were not moved to the object store yet; their traces are read by their ids. One that cannot be read is left out.
 * @param examine decisions that one call looks at
 */
export function createFindDecisions(pool: Pool, { tryRead }: DecisionReader, examine = maxExamined): FindDecisions {
  /** The decisions behind a position, of all releases, the newest first. */
  async function readChunk(position: DecisionPosition, count: number) {
    const [rows, old] = await Promise.all([
      readDecisionRows(pool, position, count),
      readOldDecisions(pool, position, count),
    ]);
    const newest = [...rows, ...old].sort(isNewer).slice(0, count);
    return Promise.all(newest.map(async (row: Row) => ({ row, decision: await tryRead(row) })));
  }

  return async (request) => {
    const { workspaceId, fromMs: from, toMs: to, limit, after: asked, ...wanted } = parseOrProblem(schema, request);
    const found: FoundDecision[] = [];
    let after = asked && { atMs: asked.atMs.getTime(), decisionId: asked.decisionId };
    let isEnd = false;
    for (let left = examine; left > 0 && found.length < limit && !isEnd;) {
      const count = Math.min(left, chunkSize);
      const chunk = await readChunk({ workspaceId, from, to, after }, count);
      left -= chunk.length;
      isEnd = chunk.length < count;
      for (const { row, decision } of chunk) {
        if (found.length === limit) break;
        const { atMs, decisionId } = row;
        after = { atMs, decisionId };
        if (decision && isWanted(wanted, decision)) found.push({ decisionId, decision });
      }
    }
    const isComplete = isEnd && found.length < limit;
    return {
      decisions: found.map(wireDecision),
      next: isComplete || !after ? undefined : { atMs: BigInt(after.atMs), decisionId: after.decisionId },
    };
  };
}
