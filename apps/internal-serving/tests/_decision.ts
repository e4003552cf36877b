import { idToUuid, newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { answerOf, outputDigestOf, requestClassOf, servingIdOf } from '../src/decisions/decision-record.ts';
import { noPlan } from '../src/decisions/decide-play.ts';
import type { NewDecision } from '../src/decisions/stored-decision.ts';
import { createDecisionReader } from '../src/decisions/decision-reader.ts';
import { createInsert } from '../src/decisions/insert-packed.ts';
import { createTextLists } from '../src/decisions/known-texts.ts';
import { seedOf } from '@longwave/ad-decision';

/** Known texts of a test; a list that cannot be stored fails it. */
export const textsOf = (pool: Pool) =>
  createTextLists(pool, (error) => {
    throw error;
  });

/** Reads decisions of a test; one that cannot be read fails it, unless the test expects it. */
export const readerOf = (
  pool: Pool,
  onUnreadable: Parameters<typeof createDecisionReader>[1] = (error) => {
    throw error;
  },
) => createDecisionReader(textsOf(pool), onUnreadable);

/** Stores decisions without announcing them. */
export const insertInto = (pool: Pool) => createInsert(pool, textsOf(pool), () => undefined);

/** SQL: what packed bytes become that cannot be read: of a later form, naming texts that are not there, cut off, and empty. */
const unreadableForms = [
  `set_byte(packed, 0, 9)`,
  `overlay(packed placing '\\x7fffffff'::bytea from 34)`,
  `substring(packed for 40)`,
  `''::bytea`,
];

/** Lets decisions become unreadable, each in another way. */
export async function damage(pool: Pool, decisionIds: readonly string[]): Promise<void> {
  for (const [at, id] of decisionIds.entries())
    await pool.query(`update packed_decision set packed = ${unreadableForms[at]} where decision_id = $1`, [
      idToUuid(id),
    ]);
}

/** A decision without a plan. */
export function decisionOf(given: Partial<NewDecision> = {}): NewDecision {
  const decisionId = given.decisionId ?? newId('dec');
  const atMs = given.atMs ?? 1_767_225_600_123;
  const answer = given.answer ?? answerOf(decisionId, given.servingPlanId, noPlan);
  const requestDigest = 'cd'.repeat(32);
  const context = {
    ...{ decisionId, atMs, podcastId: newId('pod'), episodeId: newId('ep'), streamFormat: 'mp3/128000/48000/2' },
    ...{ country: 'DE', region: '', surface: 'progressive', device: 'mobile', operatingSystem: 'iOS', app: 'Overcast' },
    ...{ language: 'en', explicit: false, contentCategories: ['Arts'], publishedAtMs: atMs - 1, loudnessLufs: -16 },
    adLoadLimitMs: undefined,
    breaks: [
      { ...{ key: 'pre', position: 'pre' as const, maxSlots: 1, maxDurationMs: 60_000, positionMs: 0 }, slotRules: [] },
    ],
  };
  return {
    ...{ decisionId, atMs, answer, requestDigest, workspaceId: newId('ws') },
    ...{ servingPlanId: undefined, planDigest: undefined },
    trace: {
      ...{ index_version: null, stages: [], candidates: [], policy_versions: [] },
      request_class: requestClassOf(context, false),
      seed: seedOf(decisionId),
      input_digest: requestDigest,
      output_digest: outputDigestOf(answer),
    },
    inputs: { context, told: { room: {}, shares: {}, heard: {} }, suspensions: null, cap_keys: [] },
    ...{ countedSlots: [], shareOpportunities: [], shareServings: [], mode: 'none', nodeEpoch: 0 },
    ...given,
  };
}

/** The answer of a decision that filled one slot with a line item. */
export const filledAnswer = (decisionId: string, lineItemId: string = newId('li')): NewDecision['answer'] => ({
  decision_id: decisionId,
  no_ad_reason: '',
  picks: [
    {
      ...{ billable: true, break_key: 'pre', campaign_id: newId('cmp'), click_url: '', creative_id: newId('crv') },
      ...{ duration_ms: 30_000, line_item_id: lineItemId, segment_digest: 'ab'.repeat(32) },
      serving_id: servingIdOf(decisionId, 'pre', 0),
      ...{ size_bytes: 480_000, slot: 0 },
    },
  ],
  serving_plan_id: '',
});

/** Stores decisions as release 0.4.0 does, with its statement; answers the ids that it wrote. */
export async function insertByRelease4(pool: Pool, decisions: readonly NewDecision[]): Promise<readonly string[]> {
  const newRows = decisions.map((row) => ({
    ...{ decision_id: row.decisionId, workspace_id: row.workspaceId, at_ms: row.atMs },
    ...{ serving_plan_id: row.servingPlanId, plan_digest: row.planDigest, request_digest: row.requestDigest },
    ...{ response: row.answer, trace: row.trace, inputs: row.inputs },
    ...{ share_opportunities: row.shareOpportunities, share_servings: row.shareServings },
    goal_line_items: row.countedSlots.map((slot) => slot.lineItemId),
    goal_attempts: row.countedSlots.map((slot) => slot.attempt),
  }));
  const { rows } = await pool.query<{ decision_id: string }>(
    `with written as (
       insert into decision (decision_id, workspace_id, at, serving_plan_id, plan_digest, request_digest, response, trace, inputs,
                             goal_line_items, goal_attempts, share_opportunities, share_servings)
       select decision_id, workspace_id, to_timestamp(at_ms / 1000.0), serving_plan_id, plan_digest, request_digest, response, trace,
              inputs, goal_line_items, goal_attempts, share_opportunities, share_servings
       from json_to_recordset($1) as given (decision_id text, workspace_id text, at_ms bigint, serving_plan_id text,
            plan_digest text, request_digest text, response jsonb, trace jsonb, inputs jsonb, goal_line_items text[],
            goal_attempts text[], share_opportunities text[], share_servings text[])
       order by decision_id
       on conflict (decision_id) do nothing
       returning decision_id, jsonb_array_length(response -> 'picks') as picks),
     announced as (insert into decision_announcement (decision_id) select decision_id from written where picks > 0)
     select decision_id from written`,
    [JSON.stringify(newRows)],
  );
  return rows.map((row) => row.decision_id);
}

/** Slots that release 0.4.0 counts for a line item. */
export async function countByRelease4(pool: Pool, lineItemId: string): Promise<number> {
  const { rows } = await pool.query<{ slots: number }>(
    `select count(*)::int as slots from decision cross join unnest(goal_line_items) as slot (line_item_id)
     where goal_line_items && array[$1] and slot.line_item_id = $1`,
    [lineItemId],
  );
  return rows[0]!.slots;
}
