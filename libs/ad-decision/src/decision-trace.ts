import { z } from 'zod';
import { noAdReasons, verdictCodes } from './codes.ts';
import { safeLabel } from './safe-label.ts';

const idOf = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`));
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const milliseconds = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const count = z.int().min(0);
/** Absent in traces that are older than the field. */
const label = z
  .string()
  .overwrite(safeLabel)
  .default('')
  .describe('A name of the lists, "other" for a text that is none, or "" when it is not known.');
const verdict = z.enum(verdictCodes);
const breakKey = z.string().describe('The break of the play, by its key.');

/**
 * A decision trace as it is answered: these fields and no others, whatever a decision had as input. It has no price, no goal, no budget, no
 * name, no address and no key of a listener; of line items it has the ids of the reader's own workspace. Parsing drops every other field.
 */
export const decisionTraceSchema = z.object({
  decision_id: idOf('dec'),
  decided_at: z.iso.datetime().describe('The time of the play.'),
  serving_plan_id: idOf('spl').nullable().describe('The serving plan that decided; null when none was published.'),
  index_version: digest.nullable().describe('SHA-256 of that plan.'),
  pacing_version: z.null().describe('Goals are counted at the decision: there is no pacing state of another time.'),
  policy_versions: z
    .array(z.object({ id: idOf('pol'), version: z.int().min(1), kind: z.string().regex(/^[a-z_]{1,32}$/) }))
    .default([])
    .describe('The policies that the play was decided under.'),
  suspensions_version: digest
    .nullable()
    .default(null)
    .describe('SHA-256 of the halts and pauses that held; null when there were none.'),
  request_class: z.object({
    podcast_id: idOf('pod'),
    episode_id: idOf('ep'),
    country: z.string().regex(/^([A-Z]{2})?$/),
    region: z
      .string()
      .regex(/^([A-Z]{2}-[A-Z0-9]{1,3})?$/)
      .default(''),
    surface: label,
    device: label,
    operating_system: label,
    app: label,
    language: label,
    explicit: z.boolean().default(false),
    content_categories: z.array(label).default([]),
    stream_format: label,
    stream_formats: z
      .array(label)
      .default([])
      .describe('Formats that an ad had to have; empty: that of the file alone.'),
    listener_bucket: z.enum(['present', 'absent']).describe('Whether the listener could be counted, never who it is.'),
    breaks: z
      .array(
        z.object({
          key: breakKey,
          position: z.enum(['pre', 'mid', 'post']),
          position_ms: milliseconds,
          max_slots: count,
          max_duration_ms: milliseconds,
        }),
      )
      .default([]),
  }),
  stages: z
    .array(
      z.object({
        break_key: breakKey,
        name: z.enum(['eligibility', 'goals', 'frequency', 'separation', 'pacing', 'selection']),
        in: count,
        out: count,
        dropped_by: z.partialRecord(verdict, count),
      }),
    )
    .describe('The steps of each break: how many line items came in and out, and what dropped the others.'),
  candidates: z
    .array(
      z.object({
        break_key: breakKey,
        line_item_id: idOf('li'),
        verdict,
        codes: z.array(verdict).min(1).describe('Everything that speaks against it, the verdict first.'),
        tier: count.max(4),
        rank: z.int().min(1).nullable().describe('Its place in the order; null when it was not considered.'),
      }),
    )
    .max(50),
  picks: z.array(
    z.object({
      break_key: breakKey,
      slot: count,
      serving_id: idOf('srv'),
      campaign_id: idOf('cmp'),
      line_item_id: idOf('li'),
      creative_id: idOf('crv'),
      duration_ms: milliseconds,
    }),
  ),
  no_ad_reason: z.enum(noAdReasons).nullable(),
  seed: z.number(),
  input_digest: digest.describe('SHA-256 of the request.'),
  output_digest: digest.describe('SHA-256 of the answer.'),
  replay: z.object({
    status: z
      .enum(['identical', 'differs', 'inputs_expired'])
      .describe('Whether the same inputs gave the same answer again, just now.'),
  }),
});
export type DecisionTrace = z.output<typeof decisionTraceSchema>;

/** The keys of breaks as they are shown: their own, or their number where a key could be something else. */
function shownKeys({ request_class: { breaks } }: DecisionTrace): (key: string) => string {
  const shown = new Map(breaks.map(({ key }, at) => [key, safeLabel(key) === key ? key : `break-${at + 1}`]));
  return (key) => shown.get(key) ?? safeLabel(key);
}

/** The trace to show, of what is known about a decision. Throws for a value that does not have the fields of a trace. */
export function toDecisionTrace(known: unknown): DecisionTrace {
  const trace = decisionTraceSchema.parse(known);
  const shown = shownKeys(trace);
  const withKey = <T extends { readonly break_key: string }>(one: T): T => ({
    ...one,
    break_key: shown(one.break_key),
  });
  const { request_class: requestClass } = trace;
  return {
    ...trace,
    request_class: { ...requestClass, breaks: requestClass.breaks.map((one) => ({ ...one, key: shown(one.key) })) },
    stages: trace.stages.map(withKey),
    candidates: trace.candidates.map(withKey),
    picks: trace.picks.map(withKey),
  };
}
