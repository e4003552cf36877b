import { commerceRoles } from '@longwave/principal';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, foundProblem, instant, leaseReason, reference, sha256, stateReason, timeWindow } from '../fields.ts';
import { countingBasis } from '../advertising/placement.ts';

/** Formats in which every issued statement is written. */
const statementFormats = ['json', 'csv', 'html'] as const;

/** The most line items that one statement has. */
const maxLineItems = 1000;
/** The most lines that one statement has. */
export const maxStatementLines = 5000;

const count = z.int().min(0);
const priceMicros = z.string().regex(/^\d{1,18}$/);
/** Millionths of the currency; negative where something is given back. The highest price of the most units has 31 digits. */
const amountMicros = z.string().regex(/^-?\d{1,36}$/);

/** A price, from a time on; units are those of servings that were decided from then on. */
const rate = {
  model: z.enum(['cpm', 'cpcv', 'flat', 'cpd', 'none']),
  price_micros: priceMicros,
  /** What the price counts: the basis of the line item, or completed plays of the ad. */
  basis: z.enum([...countingBasis.options, 'completes']),
};

/** What a line item was when the statement was made. */
const lineItemTerms = z.strictObject({
  line_item_id: reference('li'),
  version: z.int().min(1),
  name: z.string(),
  window: z.strictObject({ start: instant, end: instant }),
  began_at: instant,
  ended: z.strictObject({ at: instant, state: z.enum(['completed', 'stopped']) }).optional(),
  rates: z
    .array(
      z.strictObject({
        from: instant,
        ...rate,
        /** The most units that are charged under all prices with a goal in this unit; absent: no bound. */
        goal: z.strictObject({ unit: z.enum(['impressions', 'completes']), units: count }).optional(),
      }),
    )
    .min(1),
  /** What earlier statements have charged, by the time of the price. */
  earlier: z.array(z.strictObject({ rate_from: instant, units: z.int(), days: z.int(), amount_micros: amountMicros })),
});

/** Everything that a statement is computed from, beside the ledger; fixed when it is asked for. */
const inputs = z.strictObject({
  campaign_id: reference('cmp'),
  campaign_version: z.int().min(1),
  currency: z.string().regex(/^[A-Z]{3}$/),
  /** Zone whose days prices are earned by, and adjustments belong to. */
  time_zone: z.string(),
  /** Deliveries before its end are charged, less what earlier statements have charged. */
  charged: z.strictObject({ start: instant, end: instant }),
  /** The ledger is read as it was known at this time. */
  known_at: instant,
  line_items: z.array(lineItemTerms).min(1).max(maxLineItems),
  earlier_statement_ids: z.array(reference('bil')),
  reconciliation_ids: z.array(reference('rec')),
  /** Why it was made without a closed reconciliation of the period. */
  reconciliation_waiver: z.string().optional(),
});

/** What names the parts of the ledger that were read. */
const evidence = z.strictObject({
  /** How many adjustments were known, and the SHA-256 (hex) over them. */
  adjustments: z.strictObject({ count, sha256 }),
  methodology_version: z.string(),
  lists_version: z.string(),
  /** SHA-256 (hex) of the inputs with these fields, in canonical form (RFC 8785). */
  inputs_digest: sha256,
});

const line = z.strictObject({
  line_item_id: reference('li'),
  /** `charge`: of the period; `correction`: of earlier periods, whose numbers have changed since, or were not charged. */
  kind: z.enum(['charge', 'correction']),
  name: z.string(),
  rate_from: instant,
  ...rate,
  units: z.int(),
  days: z.int(),
  /** The amounts of all lines sum to the total. */
  amount_micros: amountMicros,
});
const lines = z.array(line).max(maxStatementLines);

const computed = { evidence, lines, total_micros: amountMicros };

const document = z.strictObject({ format: z.enum(statementFormats), sha256, size_bytes: count });
const file = document.extend({ storage_key: z.string() });
const perFormat = statementFormats.length;

/** A note about taxes, which are not computed. */
const taxNote = z.string().trim().min(1).max(500).describe('Printed as it is; taxes are not computed.');

/** Billing statements: what an advertiser is charged for a campaign and a period (docs/billing.md). */
export const billingStatements = defineResource({
  type: 'billing_statements',
  noun: 'billing_statement',
  prefix: 'bil',
  attributes: z.strictObject({
    campaign_id: reference('cmp'),
    /** Of a credit note: that of the statement which it corrects. */
    period: timeWindow,
    kind: z.enum(['invoice', 'credit_note']),
    /** The statement that a credit note corrects. */
    corrects: reference('bil').optional(),
    tax_note: taxNote.optional(),
    requested_by: z.string(),
    inputs,
    ...z.strictObject(computed).partial().shape,
    /** Why no draft could be made. */
    problem: foundProblem.optional(),
    /** Without gaps in the workspace; given when it is issued. */
    number: z.int().min(1).optional(),
    issued_at: instant.optional(),
    /** Names as they were when it was issued. */
    parties: z
      .strictObject({
        issuer_name: z.string(),
        advertiser_name: z.string(),
        campaign_name: z.string(),
        io_number: z.string().optional(),
        corrected_number: z.int().min(1).optional(),
      })
      .optional(),
    /** Digests of its documents, which follow from everything above. */
    documents: z.array(document).length(perFormat).optional(),
    /** The same in the object store, once they are there. */
    files: z.array(file).length(perFormat).optional(),
    payment_ref: z.string().optional(),
    /** Of a voided statement: its exact negative. */
    reversal: z.strictObject({ reversed_at: instant, lines, total_micros: amountMicros }).optional(),
    state_reason: stateReason,
  }),
  states: ['draft', 'issued', 'disputed', 'settled', 'voided'],
  terminalStates: ['settled', 'voided'],
  links: {
    campaign: { attribute: 'campaign_id', type: 'campaigns' },
    corrects: { attribute: 'corrects', type: 'billing_statements' },
  },
  readers: commerceRoles,
  uniqueAttributes: [],
});

const roles = ['finance', 'admin'] as const;
const reviewers = ['finance', 'reviewer', 'admin'] as const;
const base = { subject: 'billing_statements', hasRule: true } as const;
const report = { ...base, reason: leaseReason, machines: ['management'], problems: ['lease_lost'] } as const;

export const billingStatementCommands = {
  'billing_statement.generate': defineCommand({
    ...base,
    type: 'billing_statement.generate',
    to: 'draft',
    changes: z
      .strictObject({
        campaign_id: reference('cmp'),
        period: timeWindow.optional().describe('Deliveries before its end are charged. Absent for a credit note.'),
        corrects: reference('bil')
          .optional()
          .describe('Makes a credit note of what this statement, and later ones, have charged too much.'),
        tax_note: taxNote.optional(),
        waive_reconciliation: z
          .strictObject({ reason: cause })
          .optional()
          .describe('Charges without a closed reconciliation of the period; two others approve it.'),
      })
      .refine(({ period, corrects }) => (period === undefined) !== (corrects === undefined), {
        message: 'Name a period, or the statement that a credit note corrects.',
        path: ['period'],
      })
      .meta({ oneOf: [{ required: ['period'] }, { required: ['corrects'] }] }),
    roles,
    mode: 'async',
    endedBy: 'billing_statement.discard',
    review: 'policy',
    event: 'billing_statement.requested',
    problems: [
      ...(['validation_failed', 'link_not_found', 'state_not_allowed', 'rate_limited'] as const),
      'temporarily_unavailable',
    ],
    summary:
      'Makes a draft of what a campaign owes for a period, by the ledger as it is known now. Needs a closed reconciliation of the period, or a reason to do without, which two others approve.',
  }),
  'billing_statement.record_draft': defineCommand({
    ...report,
    type: 'billing_statement.record_draft',
    from: ['draft'],
    changes: z.strictObject(computed),
    settles: 'succeeded',
    settlesOf: ['billing_statement.generate'],
    event: 'billing_statement.drafted',
    summary: 'The draft is computed.',
  }),
  'billing_statement.fail_draft': defineCommand({
    ...report,
    type: 'billing_statement.fail_draft',
    from: ['draft'],
    to: 'voided',
    changes: z.strictObject({ problem: foundProblem }),
    settles: 'failed',
    settlesOf: ['billing_statement.generate'],
    event: 'billing_statement.draft_failed',
    summary: 'No draft could be made; records the reason. It has no number.',
  }),
  'billing_statement.discard': defineCommand({
    ...base,
    type: 'billing_statement.discard',
    from: ['draft'],
    to: 'voided',
    changes: z.strictObject({ cause }),
    roles,
    settles: 'cancelled',
    settlesOf: ['billing_statement.generate'],
    event: 'billing_statement.discarded',
    summary: 'Throws a draft away, also while it is computed. It has no number, and nobody is charged by it.',
  }),
  'billing_statement.issue': defineCommand({
    ...base,
    type: 'billing_statement.issue',
    from: ['draft'],
    to: 'issued',
    changes: z.strictObject({}),
    roles,
    mode: 'async',
    review: 'single',
    reviewers,
    versionGuard: 'required',
    event: 'billing_statement.issued',
    problems: ['state_not_allowed'],
    externalEffect: 'Its documents are written to the object store and never removed.',
    summary:
      'Gives a draft the next number of the workspace. From then on it never changes: a credit note corrects it.',
  }),
  'billing_statement.record_documents': defineCommand({
    ...report,
    type: 'billing_statement.record_documents',
    from: ['issued', 'disputed'],
    changes: z.strictObject({ files: z.array(file).length(perFormat) }),
    settles: 'succeeded',
    settlesOf: ['billing_statement.issue'],
    event: 'billing_statement.documents_stored',
    summary: 'The documents of an issued statement are in the object store.',
  }),
  'billing_statement.fail_documents': defineCommand({
    ...report,
    type: 'billing_statement.fail_documents',
    from: ['issued', 'disputed'],
    changes: z.strictObject({ problem: foundProblem }),
    settles: 'failed',
    settlesOf: ['billing_statement.issue'],
    event: 'billing_statement.documents_failed',
    summary: 'The documents of an issued statement could not be stored; it stays issued.',
  }),
  'billing_statement.dispute': defineCommand({
    ...base,
    hasRule: false,
    type: 'billing_statement.dispute',
    from: ['issued'],
    to: 'disputed',
    changes: z.strictObject({ cause }),
    roles,
    event: 'billing_statement.disputed',
    summary: 'Records that the advertiser disputes a statement.',
  }),
  'billing_statement.uphold': defineCommand({
    ...base,
    hasRule: false,
    type: 'billing_statement.uphold',
    from: ['disputed'],
    to: 'issued',
    changes: z.strictObject({ cause }),
    roles,
    review: 'dual',
    reviewers,
    versionGuard: 'required',
    event: 'billing_statement.dispute_ended',
    summary: 'Ends a dispute: the statement holds, where a credit note corrects it together with that.',
  }),
  'billing_statement.settle': defineCommand({
    ...base,
    type: 'billing_statement.settle',
    from: ['issued'],
    to: 'settled',
    changes: z.strictObject({ payment_ref: z.string().trim().min(1).max(128) }),
    roles,
    review: 'single',
    reviewers,
    versionGuard: 'required',
    event: 'billing_statement.settled',
    problems: ['state_not_allowed'],
    summary: 'Records that a statement is paid, or a credit paid out.',
  }),
  'billing_statement.void': defineCommand({
    ...base,
    type: 'billing_statement.void',
    from: ['issued', 'disputed'],
    to: 'voided',
    changes: z.strictObject({ cause }),
    roles,
    review: 'dual',
    reviewers,
    versionGuard: 'required',
    event: 'billing_statement.voided',
    problems: ['state_not_allowed'],
    summary:
      'Takes back the newest statement of a campaign: it keeps its number, and its exact negative stands beside it. Older ones are corrected by credit notes.',
  }),
} as const;
