import type { Pool } from '@longwave/postgres';
import { z } from 'zod';

/** The decisions that are wanted; an empty text stands for any. */
interface WantedDecisions {
  readonly workspaceId: string;
  readonly from: Date;
  readonly to: Date;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly lineItemId: string;
  readonly verdict: string;
  readonly campaignId: string;
  readonly creativeId: string;
  readonly outcome: string;
  readonly noAdReason: string;
  readonly after: { readonly atMs: Date; readonly decisionId: string } | undefined;
}

const position = z.object({ at: z.string(), decision_id: z.string() });

const foundRow = position.extend({
  podcast_id: z.string(),
  episode_id: z.string(),
  serving_plan_id: z.string(),
  no_ad_reason: z.string(),
  picks: z.array(
    z.object({
      break_key: z.string(),
      slot: z.int(),
      campaign_id: z.string(),
      line_item_id: z.string(),
      creative_id: z.string(),
    }),
  ),
});
export type FoundRow = z.infer<typeof foundRow>;

const pageRow = z.object({ examined: z.int(), last: position.nullable(), found: z.array(foundRow) });

interface FoundPage {
  readonly found: readonly FoundRow[];
  /** Where the next page goes on; undefined when nothing is left. */
  readonly next: z.infer<typeof position> | undefined;
}

/** Members of an object that must have a value; the others are left out. */
const membersOf = (members: Readonly<Record<string, string>>): string | null => {
  const wanted = Object.entries(members).filter(([, value]) => value !== '');
  return wanted.length === 0 ? null : JSON.stringify([Object.fromEntries(wanted)]);
};

/**
 * One page of the decisions of a workspace, the newest first. Whatever is asked for, at most `examine` rows are read: a page may have
 * fewer rows than `limit`, and more may follow.
 */
export async function findDecisionRows(
  pool: Pool,
  wanted: WantedDecisions,
  { limit, examine }: { readonly limit: number; readonly examine: number },
): Promise<FoundPage> {
  const { rows } = await pool.query({
    name: 'find-decisions',
    text: `with examined as materialized (
             select decision_id, at, serving_plan_id, response, trace from decision
             where workspace_id = $1 and archived_in is null and at >= $2 and at < $3
               and ($4::timestamptz is null or (at, decision_id) < ($4, $5))
             order by at desc, decision_id desc limit $6
           ), matching as (
             select decision_id, to_json(at) #>> '{}' as at, coalesce(serving_plan_id, '') as serving_plan_id,
                    trace->'request_class'->>'podcast_id' as podcast_id, trace->'request_class'->>'episode_id' as episode_id,
                    response->>'no_ad_reason' as no_ad_reason, response->'picks' as picks, at as placed_at
             from examined
             where ($8 = '' or trace->'request_class'->>'podcast_id' = $8)
               and ($9 = '' or trace->'request_class'->>'episode_id' = $9)
               and ($10::jsonb is null or trace->'candidates' @> $10)
               and ($11::jsonb is null or response->'picks' @> $11)
               and ($12 = '' or $12 = case when response->'picks' = '[]' then 'empty' else 'filled' end)
               and ($13 = '' or response->>'no_ad_reason' = $13)
             order by at desc, decision_id desc limit $7
           )
           select (select count(*)::int from examined) as examined,
                  (select json_build_object('at', at, 'decision_id', decision_id) from examined order by at, decision_id limit 1) as last,
                  coalesce((select json_agg(m order by placed_at desc, decision_id desc) from matching m), '[]') as found`,
    values: [
      ...[wanted.workspaceId, wanted.from, wanted.to, wanted.after?.atMs ?? null, wanted.after?.decisionId ?? null],
      ...[examine, limit, wanted.podcastId, wanted.episodeId],
      membersOf({ line_item_id: wanted.lineItemId, verdict: wanted.verdict }),
      membersOf({ campaign_id: wanted.campaignId, creative_id: wanted.creativeId }),
      ...[wanted.outcome, wanted.noAdReason],
    ],
  });
  const { examined, last, found } = pageRow.parse(rows[0]);
  if (found.length === limit) return { found, next: found.at(-1) };
  return { found, next: examined === examine ? (last ?? undefined) : undefined };
}
