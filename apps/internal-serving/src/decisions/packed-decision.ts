import { seedOf, type DecisionContext } from '@longwave/ad-decision';
import {
  outputDigestOf,
  requestClassOf,
  servingIdOf,
  type StoredAnswer,
  type StoredInputs,
  type StoredTrace,
} from './decision-record.ts';
import type { PackedRow } from './decision-table.ts';
import { MissingTexts, type KnownTexts, type TextLists } from './known-texts.ts';
import { packValue, unpackValue } from './packed-value.ts';
import type { CountedSlot } from '../goals/goal-guard.ts';
import { UnreadableDecision, type NewDecision, type StoredDecision } from './stored-decision.ts';

/**
 * The form in which a decision is stored: a byte of version, the SHA-256 of the request, the number of the known texts in four bytes
 * (0: none), and a packed list. Records of one kind stand in it as their values alone, in the order of the lists below. Stored decisions
 * are read for ever, so nothing of a version changes: another form is another version (docs/adr/0049-compact-plays.md).
 */
const version = 1;
const headBytes = 37;

const contextFields = [
  ...(['podcastId', 'episodeId', 'streamFormat', 'country', 'region', 'surface', 'device', 'operatingSystem'] as const),
  ...(['app', 'language', 'explicit', 'contentCategories', 'publishedAtMs', 'loudnessLufs', 'adLoadLimitMs'] as const),
];
const breakFields = ['key', 'position', 'maxSlots', 'maxDurationMs', 'positionMs', 'slotRules'];
/** In the order of JCS, which digests of answers follow. */
const pickFields = [
  ...['billable', 'break_key', 'campaign_id', 'click_url', 'creative_id', 'duration_ms', 'line_item_id'],
  ...['segment_digest', 'serving_id', 'size_bytes', 'slot'],
];
const stageFields = ['break_key', 'name', 'in', 'out', 'dropped_by'];
const candidateFields = ['break_key', 'line_item_id', 'verdict', 'codes', 'tier', 'rank'];
const slotFields = ['lineItemId', 'attempt'];

type Fields = Readonly<Record<string, unknown>>;

/** The values of records one behind the other. */
const valuesOf = (names: readonly string[], records: readonly object[]): unknown[] =>
  records.flatMap((record) => names.map((name) => (record as Fields)[name]));

/** The inverse of `valuesOf`, for values that this service packed. */
function recordsOf<T = Fields>(names: readonly string[], values: unknown): T[] {
  const list = values as readonly unknown[];
  return Array.from(
    { length: list.length / names.length },
    (_, record) => Object.fromEntries(names.map((name, at) => [name, list[record * names.length + at]])) as T,
  );
}

/** What most records have is packed as null. */
const plainStage = (stage: Fields) => ({
  ...stage,
  dropped_by: Object.keys(stage['dropped_by'] as object).length === 0 ? null : stage['dropped_by'],
});
const plainCandidate = (candidate: Fields) => {
  const codes = candidate['codes'] as readonly string[];
  return { ...candidate, codes: codes.length === 1 && codes[0] === candidate['verdict'] ? null : codes };
};

type PlayFields = Omit<DecisionContext, 'decisionId' | 'atMs' | 'breaks'>;

/** What `listDecision` lists; lists of records are unknown[]. */
type Head = [
  ...[servingPlanId: string | null, planDigest: string | null, play: unknown, breaks: unknown],
  ...[listener: 'present' | 'absent', told: StoredInputs['told'], suspensions: string | null],
  ...[policies: string | null, capKeys: readonly string[]],
];
type Tail = [
  ...[noAdReason: string, picks: unknown, stages: unknown, candidates: unknown],
  ...[policyVersions: NonNullable<StoredTrace['policy_versions']>, slots: unknown],
];
type PackedList = [...Head, ...Tail];

/** Everything of a decision that is packed, as lists. */
export function listDecision(decision: NewDecision): unknown {
  const { answer, trace, inputs } = decision;
  return [
    decision.servingPlanId,
    decision.planDigest,
    valuesOf(contextFields, [inputs.context]),
    valuesOf(breakFields, inputs.context.breaks),
    trace.request_class.listener_bucket,
    inputs.told,
    inputs.suspensions,
    inputs.policies,
    inputs.cap_keys,
    answer.no_ad_reason,
    // A serving's id follows from the decision and its slot.
    valuesOf(
      pickFields,
      answer.picks.map((pick) => ({ ...pick, serving_id: null })),
    ),
    valuesOf(stageFields, (trace.stages as readonly Fields[]).map(plainStage)),
    valuesOf(candidateFields, (trace.candidates as readonly Fields[]).map(plainCandidate)),
    trace.policy_versions ?? [],
    valuesOf(slotFields, decision.countedSlots),
  ];
}

/** The stored form; id, workspace and time, which are columns of its row, are not in it. @param list from `listDecision` */
export function packDecision(requestDigest: string, list: unknown, { number, places }: KnownTexts): Buffer {
  const head = Buffer.alloc(headBytes);
  head[0] = version;
  head.write(requestDigest, 1, 'hex');
  head.writeUInt32LE(number, headBytes - 4);
  return Buffer.concat([head, packValue(list, places)]);
}

function contextOf(decisionId: string, atMs: number, values: unknown, breaks: unknown): DecisionContext {
  const [context] = recordsOf(contextFields, values);
  // Values that a play does not have are absent.
  const present = Object.fromEntries(Object.entries(context!).filter(([, value]) => value !== null));
  return { ...(present as PlayFields), decisionId, atMs, breaks: recordsOf(breakFields, breaks) };
}

function answerFrom(decisionId: string, servingPlanId: string | null, reason: string, picks: unknown): StoredAnswer {
  return {
    decision_id: decisionId,
    no_ad_reason: reason,
    picks: recordsOf<StoredAnswer['picks'][number]>(pickFields, picks).map((pick) => ({
      ...pick,
      serving_id: servingIdOf(decisionId, pick.break_key, pick.slot),
    })),
    serving_plan_id: servingPlanId ?? '',
  };
}

/** The decision of a row. Throws for bytes that `packDecision` cannot have made. @param texts those that it names */
function unpackDecision(row: PackedRow, texts: readonly string[]): StoredDecision {
  const { decisionId, workspaceId, atMs, packed } = row;
  if (packed[0] !== version) throw new Error(`it has the unknown form ${packed[0]}`);
  const requestDigest = packed.toString('hex', 1, headBytes - 4);
  const list = unpackValue(packed.subarray(headBytes), texts) as PackedList;
  const [servingPlanId, planDigest, play, breaks, listener, told, suspensions, policies, capKeys, ...rest] = list;
  const [noAdReason, picks, stages, candidates, policyVersions, slots] = rest;
  const context = contextOf(decisionId, atMs, play, breaks);
  const answer = answerFrom(decisionId, servingPlanId, noAdReason, picks);
  const inputs: StoredInputs = {
    ...{ context, told, suspensions, cap_keys: capKeys },
    ...(policies !== null && { policies }),
  };
  const trace: StoredTrace = {
    index_version: planDigest,
    request_class: requestClassOf(context, listener === 'present'),
    stages: recordsOf(stageFields, stages).map((stage) => ({ ...stage, dropped_by: stage['dropped_by'] ?? {} })),
    candidates: recordsOf(candidateFields, candidates).map((one) => ({
      ...one,
      codes: one['codes'] ?? [one['verdict']],
    })),
    policy_versions: policyVersions,
    seed: seedOf(decisionId),
    input_digest: requestDigest,
    output_digest: outputDigestOf(answer),
  };
  return {
    ...{ workspaceId, atMs, requestDigest, answer, trace, inputs },
    servingPlanId: servingPlanId ?? undefined,
    planDigest: planDigest ?? undefined,
    countedSlots: recordsOf<CountedSlot>(slotFields, slots),
  };
}

/** The decision of a row with the texts that it names. Rejects with `UnreadableDecision` for a row that is not ours. */
export async function unpackRow(texts: Pick<TextLists, 'get'>, row: PackedRow): Promise<StoredDecision> {
  const unreadable = (cause: unknown) => new UnreadableDecision(row.decisionId, cause);
  if (row.packed.length < headBytes) throw unreadable(new Error('a packed value has no head'));
  const known = await texts.get(row.packed.readUInt32LE(headBytes - 4)).catch((error: unknown) => {
    throw error instanceof MissingTexts ? unreadable(error) : error;
  });
  try {
    return unpackDecision(row, known);
  } catch (error) {
    throw unreadable(error);
  }
}
