import { commerceRoles } from '@longwave/principal';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import {
  cause,
  foundProblem,
  instant,
  leaseReason,
  reference,
  shortText,
  stateReason,
  timeWindow,
  timeZone,
} from '../fields.ts';
import { externalSource } from '../advertising/external-ids.ts';
import { countingBasis } from '../advertising/placement.ts';

/** What a source counts, in the words of our counting bases; `completes` are ads that were heard to their end. */
const countedBasis = z.enum([...countingBasis.options, 'completes']);

/** Names of the columns of a file; cells of other columns are ignored. */
const columns = z
  .strictObject({
    /** Our id of the serving, as `[ADSERVINGID]` and `AdServingId` have told the source. A row without one is found by the other columns. */
    serving: shortText.optional(),
    /** Our id of the line item, or the source's id of it. */
    line_item: shortText.optional(),
    /** Our id of the campaign, or its IO number. */
    campaign: shortText.optional(),
    creative: shortText.optional(),
    /** Date as YYYY-MM-DD. */
    day: shortText.optional(),
    /** Whole numbers, with or without commas between thousands. */
    units: shortText,
  })
  .refine((it) => it.line_item !== undefined || it.campaign !== undefined || it.serving !== undefined, {
    message: 'Name the column of servings, of line items or of campaigns.',
    path: ['line_item'],
  });

const sourceFields = {
  /** Name of the source; external ids under this name lead to our line items and creatives. */
  name: externalSource,
  counting_basis: countedBasis,
  /** Zone of its days. Absent: unknown, so it is compared by the whole period. */
  time_zone: timeZone.optional(),
};

/** `ptmg_counter`: it counts by the Podcast Measurement Technical Guidelines of the IAB Tech Lab, as we do. */
const fileKinds = z.enum(['third_party', 'ptmg_counter']);
const evidenceFields = {
  ...sourceFields,
  kind: z.literal('platform_reported'),
  evidence_id: reference('pev'),
  /** The number of the evidence rows that is compared. */
  metric: z.enum(['impressions', 'completes', 'plays', 'downloads']).default('impressions'),
};

/** Counts of others: an uploaded CSV with a header, or the rows of a platform's evidence. */
const requestedSource = z.discriminatedUnion('kind', [
  z.strictObject({ ...sourceFields, kind: fileKinds, upload_ref: reference('upl'), columns }),
  z.strictObject(evidenceFields),
]);
/** The same with the bytes of the file that were there when it was named. */
const storedSource = z.discriminatedUnion('kind', [
  z.strictObject({ ...sourceFields, kind: fileKinds, upload_id: reference('upl'), columns, storage_key: z.string() }),
  z.strictObject(evidenceFields),
]);

const distinct = <T extends { readonly name: string }>(sources: readonly T[]) =>
  new Set(sources.map(({ name }) => name)).size === sources.length;
const sources = z
  .array(requestedSource)
  .min(1)
  .max(10)
  .refine(distinct, { message: 'Each source has a name of its own.' });

const scope = z
  .strictObject({
    campaign_ids: z.array(reference('cmp')).min(1).max(100).optional(),
    line_item_ids: z.array(reference('li')).min(1).max(1000).optional(),
  })
  .refine((it) => (it.campaign_ids === undefined) !== (it.line_item_ids === undefined), {
    message: 'Name campaigns or line items.',
  });

const settings = {
  /** Whole days of `time_zone`. Each source is compared on the same dates of its own zone. */
  period: timeWindow,
  scope,
  /** Per cent of our number by which a source may differ; absent: 10, and 5 for a PTMG counter. */
  tolerance_pct: z.number().min(0).max(100).optional(),
};

const amount = z.int().min(0);
/** Half of what one adjustment may have, so that a difference fits into it. */
const units = amount.max(500_000_000_000);

/** What can be wrong with a source (docs/reconciliation.md). */
export const findingCodes = [
  ...(['missing_column', 'duplicate_column', 'wrong_columns', 'too_many_columns', 'empty_file'] as const),
  ...(['not_utf8', 'control_character', 'broken_quotes', 'line_too_long', 'id_too_long', 'formula'] as const),
  ...(['not_a_count', 'not_a_date', 'empty_id', 'too_many_rows', 'file_too_large', 'too_many_units'] as const),
] as const;

/** A line of a file that cannot be read, or something about the whole source. */
const finding = z.strictObject({
  source: externalSource,
  line: z.int().min(1).optional(),
  code: z.enum(findingCodes),
  detail: z.string().max(500),
});

/** What one source held. */
const sourceFound = z.strictObject({
  name: externalSource,
  rows: amount,
  /** Rows of days outside of the period, and of line items or campaigns outside of the scope. */
  outside_period: amount,
  outside_scope: amount,
  /** Rows with an id that leads to nothing here, or to several things; the first 50 ids with their units. */
  unknown_rows: amount,
  unknown_ids: z.array(z.strictObject({ id: z.string().max(255), line: z.int().min(1), units })).max(50),
});

/** Sums over the items. */
const totals = z.strictObject({
  items: amount,
  ours: z.int(),
  theirs: z.int(),
  /** Items that a person must decide: beyond the tolerance, or with an ambiguity. */
  for_people: amount,
  /** Those of them without a verdict, and how many of these are beyond the tolerance. */
  undecided: amount,
  undecided_beyond: amount,
});

const matched = {
  /** Our ledger as it was known at this time. */
  known_at: instant,
  totals,
  found: z.array(sourceFound).max(10),
};

export const reconciliationVerdicts = ['ours', 'theirs', 'agreed_value'] as const;
export const reconciliationAmbiguities = [
  ...(['none', 'missing_theirs', 'missing_ours', 'basis_differs', 'zone_unknown'] as const),
  ...(['provisional', 'duplicate_rows', 'spread'] as const),
] as const;

/** Reconciliations: counts of others beside ours, item by item, until people have decided which are charged. */
export const reconciliations = defineResource({
  type: 'reconciliations',
  noun: 'reconciliation',
  prefix: 'rec',
  attributes: z.strictObject({
    ...settings,
    time_zone: z.string(),
    sources: z.array(storedSource),
    smallest_difference: z.int().min(0),
    provisional: z.boolean(),
    requested_by: z.string(),
    /** What the matching found; absent before it. */
    ...z.strictObject(matched).partial().shape,
    /** Why it could not be matched or closed, the last time. */
    problem: foundProblem.optional(),
    findings: z.array(finding).max(100).optional(),
    /** While it closes, and after that failed: adjustments are made to our ledger as it was known then, when its facts were complete. */
    closing: z.strictObject({ known_at: instant, requested_by: z.string() }).optional(),
    /** What closing it has posted. */
    closed: z.strictObject({ known_at: instant, adjustments: amount, units: z.int() }).optional(),
    state_reason: stateReason,
  }),
  states: ['open', 'matching', 'review', 'closed', 'cancelled'],
  terminalStates: ['closed', 'cancelled'],
  links: {},
  readers: commerceRoles,
  uniqueAttributes: [],
});

const roles = ['finance', 'owner', 'admin'] as const;
const reviewers = ['finance', 'reviewer', 'admin'] as const;
const base = { subject: 'reconciliations', hasRule: true } as const;
const report = { ...base, reason: leaseReason, machines: ['management'], problems: ['lease_lost'] } as const;
const matchings = ['reconciliation.open', 'reconciliation.match_again'] as const;
const sourceProblems = [
  ...(['validation_failed', 'link_not_found', 'upload_not_received', 'temporarily_unavailable'] as const),
  ...(['rate_limited'] as const),
] as const;

export const reconciliationCommands = {
  'reconciliation.open': defineCommand({
    ...base,
    type: 'reconciliation.open',
    to: 'open',
    changes: z.strictObject({
      ...settings,
      /** No more than twice what IAB allows: beyond it people decide. */
      tolerance_pct: z.number().min(0).max(20).optional(),
      sources,
      /** Absent: the workspace's. */
      time_zone: timeZone.optional(),
      /** A difference of so many units or fewer is never beyond the tolerance. */
      smallest_difference: z.int().min(0).max(1000).default(50),
      /** Compares a period that is not over by 7 days; people decide every item. */
      provisional: z.boolean().default(false),
    }),
    roles,
    mode: 'async',
    endedBy: 'reconciliation.cancel',
    event: 'reconciliation.opened',
    problems: sourceProblems,
    summary:
      'Lays counts of others beside ours, for a period that is over by 7 days. Items within the tolerance are decided as ours; people decide the rest. No other reconciliation of the same line items and days may be under way.',
  }),
  'reconciliation.match_again': defineCommand({
    ...base,
    type: 'reconciliation.match_again',
    from: ['open', 'review'],
    to: 'open',
    changes: z.strictObject({ sources: sources.optional() }),
    roles,
    mode: 'async',
    endedBy: 'reconciliation.cancel',
    versionGuard: 'required',
    event: 'reconciliation.rematch_requested',
    problems: [...sourceProblems, 'state_not_allowed'],
    externalEffect: 'Verdicts that were given are removed with their items.',
    summary:
      'Matches again after a failure, with other files, or after external ids were added. Refused while the first matching waits.',
  }),
  'reconciliation.begin_match': defineCommand({
    ...report,
    type: 'reconciliation.begin_match',
    from: ['open'],
    to: 'matching',
    changes: z.strictObject({}),
    event: 'reconciliation.match_started',
    summary: 'A worker has begun to match.',
  }),
  'reconciliation.record_match': defineCommand({
    ...report,
    type: 'reconciliation.record_match',
    from: ['matching'],
    to: 'review',
    changes: z.strictObject(matched),
    settles: 'succeeded',
    settlesOf: matchings,
    event: 'reconciliation.matched',
    summary: 'The items stand; people decide those beyond the tolerance.',
  }),
  'reconciliation.fail_match': defineCommand({
    ...report,
    type: 'reconciliation.fail_match',
    from: ['open', 'matching'],
    to: 'open',
    changes: z.strictObject({ problem: foundProblem, findings: z.array(finding).max(100).default([]) }),
    settles: 'failed',
    settlesOf: matchings,
    event: 'reconciliation.match_failed',
    summary: 'A source could not be read; records which lines and why. It can be matched again.',
  }),
  'reconciliation.decide_item': defineCommand({
    ...base,
    type: 'reconciliation.decide_item',
    from: ['review'],
    changes: z
      .strictObject({
        item_id: z.string().regex(/^[0-9a-f]{24}$/, 'This is not the id of an item.'),
        verdict: z.enum(reconciliationVerdicts),
        /** Of the verdict agreed_value: the units that both sides charge and pay. */
        value: units.optional(),
        note: z.string().trim().min(1).max(1000),
      })
      .refine((it) => (it.verdict === 'agreed_value') === (it.value !== undefined), {
        message: 'Give a value with the verdict “agreed_value”, and with no other.',
        path: ['value'],
      }),
    roles,
    review: 'single',
    reviewers,
    changesPart: true,
    event: 'reconciliation.item_decided',
    problems: ['validation_failed', 'state_not_allowed'],
    summary:
      'Decides one item, or decides it anew: our number, theirs, or one that both have agreed on. Verdicts of several items may wait for their reviews at the same time.',
  }),
  'reconciliation.close': defineCommand({
    ...base,
    type: 'reconciliation.close',
    from: ['review'],
    changes: z.strictObject({}),
    roles,
    mode: 'async',
    review: 'dual',
    reviewers,
    versionGuard: 'required',
    event: 'reconciliation.close_requested',
    problems: ['state_not_allowed', 'permission_denied', 'temporarily_unavailable'],
    externalEffect: 'Adjustments are appended to the ledger, which statements charge; they are never removed.',
    summary:
      'Closes a reconciliation when every item has a verdict that is beyond the tolerance, missing from its source, repeated in it or counted by another basis. Whoever decided an item does not close it, where anybody else can.',
  }),
  'reconciliation.record_close': defineCommand({
    ...report,
    type: 'reconciliation.record_close',
    from: ['review'],
    to: 'closed',
    changes: z.strictObject({ adjustments: amount, units: z.int() }),
    settles: 'succeeded',
    settlesOf: ['reconciliation.close'],
    event: 'reconciliation.closed',
    summary: 'The adjustments are posted.',
  }),
  'reconciliation.fail_close': defineCommand({
    ...report,
    type: 'reconciliation.fail_close',
    from: ['review'],
    changes: z.strictObject({ problem: foundProblem }),
    settles: 'failed',
    settlesOf: ['reconciliation.close'],
    event: 'reconciliation.close_failed',
    summary: 'The adjustments could not be posted; it can be closed again.',
  }),
  'reconciliation.cancel': defineCommand({
    ...base,
    type: 'reconciliation.cancel',
    from: ['open', 'matching', 'review'],
    to: 'cancelled',
    changes: z.strictObject({ cause }),
    roles,
    settles: 'cancelled',
    settlesOf: matchings,
    event: 'reconciliation.cancelled',
    problems: ['state_not_allowed'],
    summary: 'Ends a reconciliation without adjustments; refused while it closes.',
  }),
} as const;
