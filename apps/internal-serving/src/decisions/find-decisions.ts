import { noAdReasons, verdictCodes } from '@longwave/ad-decision';
import { isId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { parseOrProblem } from '@longwave/problems';
import type { FindRequest, FindResponse } from '@longwave/rpc/serving';
import { z } from 'zod';
import { findDecisionRows, type FoundRow } from './find-decisions-table.ts';

/** Decisions of a workspace within a time, the newest first. Rejects with `validation_failed` naming every wrong field. */
export type FindDecisions = (request: FindRequest) => Promise<FindResponse>;

/** Decisions that one page looks at: some ten milliseconds of reading. */
const maxExamined = 2_000;

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

const wireDecision = (row: FoundRow): FindResponse['decisions'][number] => ({
  decisionId: row.decision_id,
  atMs: BigInt(Date.parse(row.at)),
  podcastId: row.podcast_id,
  episodeId: row.episode_id,
  servingPlanId: row.serving_plan_id,
  noAdReason: row.no_ad_reason,
  picks: row.picks.map((pick) => ({
    breakKey: pick.break_key,
    slot: pick.slot,
    campaignId: pick.campaign_id,
    lineItemId: pick.line_item_id,
    creativeId: pick.creative_id,
  })),
});

/**
 * Finds decisions that were not moved to the object store yet; their traces are read by their ids.
 * @param examine decisions that one call looks at
 */
export const createFindDecisions =
  (pool: Pool, examine = maxExamined): FindDecisions =>
  async (request) => {
    const { fromMs: from, toMs: to, limit, after, ...wanted } = parseOrProblem(schema, request);
    const page = await findDecisionRows(pool, { ...wanted, from, to, after }, { limit, examine });
    return {
      decisions: page.found.map(wireDecision),
      next: page.next && { atMs: BigInt(Date.parse(page.next.at)), decisionId: page.next.decision_id },
    };
  };
