import { seedOf, type DecisionContext } from '@longwave/ad-decision';
import { hlsPictureFormat, type AdPicture, type AdTrack } from '@longwave/events';
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
import type { CountedSlot } from '../goals/goal-counting.ts';
import { UnreadableDecision, type NewDecision, type StoredDecision } from './stored-decision.ts';

/**
 * The form in which a decision is stored: a byte of version, the SHA-256 of the request, the number of the known texts in four bytes
 * (0: none), and a packed list. Records of one kind stand in it as their values alone, in the order of the lists below. Stored decisions
 * are read for ever, so nothing of a version changes: another form is another version (docs/adr/0049-compact-plays.md). Version 3 is of
 * plays that ask for pictures, version 2 of others that name stream formats; all others are version 1.
 */
type Version = 1 | 2 | 3;
const headBytes = 37;

const contextFields = [
  ...(['podcastId', 'episodeId', 'streamFormat', 'country', 'region', 'surface', 'device', 'operatingSystem'] as const),
  ...(['app', 'language', 'explicit', 'contentCategories', 'publishedAtMs', 'loudnessLufs', 'adLoadLimitMs'] as const),
];
const breakFields = ['key', 'position', 'maxSlots', 'maxDurationMs', 'positionMs', 'slotRules'];
/** These and the fields of tracks in the order of JCS, which digests of answers follow. */
const pickFields = [
  ...['billable', 'break_key', 'campaign_id', 'click_url', 'creative_id', 'duration_ms', 'line_item_id'],
  ...['segment_digest', 'serving_id', 'size_bytes', 'slot'],
];
const trackFields = ['codec', 'digest', 'duration_ms', 'index_digest', 'index_size_bytes', 'size_bytes'];
const pictureFields = [
  ...['codec', 'digest', 'duration_ms', 'frame_rate', 'height', 'index_digest', 'index_size_bytes', 'name'],
  ...['size_bytes', 'width'],
];
const formatFields = [...contextFields, 'streamFormats'];
const pickWithTrack = pickFields.toSpliced(pickFields.indexOf('line_item_id'), 0, 'hls');
const fieldsOf = {
  1: { context: contextFields, pick: pickFields },
  2: { context: formatFields, pick: pickWithTrack },
  3: {
    context: formatFields,
    pick: pickWithTrack.toSpliced(pickWithTrack.indexOf('segment_digest'), 0, 'pictures'),
  },
} as const satisfies Record<Version, object>;
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

/** A rate is packed as its two numbers. */
const plainPicture = ({ frame_rate: { frames, seconds }, ...picture }: AdPicture) => ({
  ...picture,
  frame_rate: [frames, seconds],
});

const pictureFrom = (values: Omit<AdPicture, 'frame_rate'> & { readonly frame_rate: readonly number[] }): AdPicture => {
  const [frames, seconds] = values.frame_rate as [number, number];
  // In the place of the list, so that the keys keep the order of JCS.
  return { ...values, frame_rate: { frames, seconds } };
};

type StoredPick = StoredAnswer['picks'][number];
type PackedPick = Omit<StoredPick, 'hls' | 'pictures' | 'serving_id'> & {
  readonly hls?: readonly unknown[] | null;
  readonly pictures?: readonly unknown[] | null;
  readonly serving_id: null;
};
/** A serving's id follows from the decision and its slot; of a track the values alone are packed. */
const plainPick = (pick: StoredPick): PackedPick => ({
  ...pick,
  hls: pick.hls ? valuesOf(trackFields, [pick.hls]) : null,
  pictures: pick.pictures ? valuesOf(pictureFields, pick.pictures.map(plainPicture)) : null,
  serving_id: null,
});

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
export interface ListedDecision {
  readonly version: Version;
  readonly list: readonly unknown[];
}

export function listDecision(decision: NewDecision): ListedDecision {
  const { answer, trace, inputs } = decision;
  const { streamFormats } = inputs.context;
  const version = streamFormats?.includes(hlsPictureFormat) ? 3 : streamFormats ? 2 : 1;
  const fields = fieldsOf[version];
  const list = [
    decision.servingPlanId,
    decision.planDigest,
    valuesOf(fields.context, [inputs.context]),
    valuesOf(breakFields, inputs.context.breaks),
    trace.request_class.listener_bucket,
    inputs.told,
    inputs.suspensions,
    inputs.policies,
    inputs.cap_keys,
    answer.no_ad_reason,
    valuesOf(fields.pick, answer.picks.map(plainPick)),
    valuesOf(stageFields, (trace.stages as readonly Fields[]).map(plainStage)),
    valuesOf(candidateFields, (trace.candidates as readonly Fields[]).map(plainCandidate)),
    trace.policy_versions ?? [],
    valuesOf(slotFields, decision.countedSlots),
  ];
  return { version, list };
}

/** The stored form; id, workspace and time, which are columns of its row, are not in it. */
export function packDecision(
  requestDigest: string,
  { version, list }: ListedDecision,
  { number, places }: KnownTexts,
): Buffer {
  const head = Buffer.alloc(headBytes);
  head[0] = version;
  head.write(requestDigest, 1, 'hex');
  head.writeUInt32LE(number, headBytes - 4);
  return Buffer.concat([head, packValue(list, places)]);
}

function contextOf(
  { decisionId, atMs }: PackedRow,
  fields: readonly string[],
  values: unknown,
  breaks: unknown,
): DecisionContext {
  const [context] = recordsOf(fields, values);
  // Values that a play does not have are absent.
  const present = Object.fromEntries(Object.entries(context!).filter(([, value]) => value !== null));
  return { ...(present as PlayFields), decisionId, atMs, breaks: recordsOf(breakFields, breaks) };
}

function answerFrom(
  decisionId: string,
  servingPlanId: string | null,
  reason: string,
  picks: readonly PackedPick[],
): StoredAnswer {
  return {
    decision_id: decisionId,
    no_ad_reason: reason,
    picks: picks.map((pick) => ({
      ...pick,
      hls: pick.hls ? recordsOf<AdTrack>(trackFields, pick.hls)[0] : undefined,
      pictures: pick.pictures
        ? recordsOf<Parameters<typeof pictureFrom>[0]>(pictureFields, pick.pictures).map(pictureFrom)
        : undefined,
      serving_id: servingIdOf(decisionId, pick.break_key, pick.slot),
    })),
    serving_plan_id: servingPlanId ?? '',
  };
}

/** The decision of a row. Throws for bytes that `packDecision` cannot have made. @param texts those that it names */
function unpackDecision(row: PackedRow, texts: readonly string[]): StoredDecision {
  const { decisionId, workspaceId, atMs, packed } = row;
  const fields = fieldsOf[packed[0] as Version] as (typeof fieldsOf)[Version] | undefined;
  if (!fields) throw new Error(`it has the unknown form ${packed[0]}`);
  const requestDigest = packed.toString('hex', 1, headBytes - 4);
  const list = unpackValue(packed.subarray(headBytes), texts) as PackedList;
  const [servingPlanId, planDigest, play, breaks, listener, told, suspensions, policies, capKeys, ...rest] = list;
  const [noAdReason, picks, stages, candidates, policyVersions, slots] = rest;
  const context = contextOf(row, fields.context, play, breaks);
  const answer = answerFrom(decisionId, servingPlanId, noAdReason, recordsOf<PackedPick>(fields.pick, picks));
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
