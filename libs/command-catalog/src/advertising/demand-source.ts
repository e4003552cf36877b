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
  taxonomyIds,
  unitPrice,
} from '../fields.ts';

/** A host name in small letters, or one with all names below it: “ads.example.com”, “*.example.com”. */
const hostPattern = z
  .string()
  .max(253)
  .regex(
    /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
    'Write a host name such as “ads.example.com” or “*.example.com”, in small letters.',
  );

const allowedHosts = z.array(hostPattern).min(1).max(20);
const timeoutMs = z.int().min(100).max(1500);
const maxWrappers = z.int().min(0).max(3);
const weight = z.int().min(1).max(1000);

const settings = {
  name: shortText,
  /** The address that is asked for ads, by https; macros of VAST are filled. */
  endpoint: z.string().max(2000),
  /** Hosts of documents, of wrappers, of redirects and of media files. Others are not asked. */
  allowed_hosts: allowedHosts,
  /** For one document, with its redirects. */
  timeout_ms: timeoutMs,
  /** Wrappers that are followed. */
  max_wrappers: maxWrappers,
  /** The least price of a thousand under which its ads are sold; the line item has the agreed price. */
  floor: unitPrice.optional(),
  /** Ads that name one of these categories are refused. */
  blocked_categories: taxonomyIds,
  /** Weight of each of its ads in the rotation of the line item. */
  weight,
};

const newSettings = {
  ...settings,
  timeout_ms: timeoutMs.default(1500),
  max_wrappers: maxWrappers.default(3),
  blocked_categories: taxonomyIds.default([]),
  weight: weight.default(1),
};

const identity = { kind: z.enum(['vast_tag']), line_item_id: reference('li') };

/** What a source answered. */
const finding = z.strictObject({
  checked_at: instant,
  /** Ads that can be prepared; 0 also when the source has no ad now. */
  ads: z.int().min(0).max(8),
  /** Wrappers that were followed. */
  wrappers: z.int().min(0).max(3),
  /** What was refused, with the error code of VAST that was reported upstream. */
  refused: z
    .array(
      z.strictObject({
        ad_id: z.string().max(255).optional(),
        vast_error: z.int().min(100).max(999),
        detail: z.string().max(1000),
      }),
    )
    .max(32),
});

/** Demand sources: addresses of other ad servers that answer with ads by VAST. */
export const demandSources = defineResource({
  type: 'demand_sources',
  noun: 'demand_source',
  prefix: 'dms',
  attributes: z.strictObject({
    ...identity,
    ...settings,
    /** The newest validation. */
    finding: finding.optional(),
    /** Why a validation failed, or why an active source has had no new ads for a while. */
    problem: foundProblem.optional(),
    state_reason: stateReason,
  }),
  states: ['draft', 'validating', 'active', 'paused', 'retired'],
  terminalStates: ['retired'],
  links: { line_item: { attribute: 'line_item_id', type: 'line_items' } },
  uniqueAttributes: [],
});

const base = { subject: 'demand_sources', hasRule: true } as const;
const person = { ...base, roles: ['trafficker', 'admin'] } as const;

export const demandSourceCommands = {
  'demand_source.create': defineCommand({
    ...person,
    type: 'demand_source.create',
    to: 'draft',
    changes: z.strictObject({ ...identity, ...newSettings }),
    event: 'demand_source.created',
    problems: ['validation_failed', 'link_not_found'],
    summary:
      'Names an address of another ad server whose ads compete under a non-guaranteed line item with a price of a thousand.',
  }),
  'demand_source.revise': defineCommand({
    ...person,
    type: 'demand_source.revise',
    from: ['draft', 'paused'],
    to: 'draft',
    changes: z.strictObject(settings).partial(),
    versionGuard: 'required',
    event: 'demand_source.revised',
    problems: ['validation_failed', 'link_not_found'],
    summary: 'Changes a demand source, which is then validated again.',
  }),
  'demand_source.validate': defineCommand({
    ...person,
    type: 'demand_source.validate',
    from: ['draft'],
    to: 'validating',
    changes: z.strictObject({}),
    mode: 'async',
    review: 'single',
    reviewers: ['reviewer', 'admin'],
    versionGuard: 'required',
    event: 'demand_source.validation_started',
    problems: ['validation_failed', 'link_not_found'],
    externalEffect: 'The address is asked once, and each VAST error is reported upstream.',
    summary:
      'Asks a demand source once. It becomes active when its answer can be used, and otherwise a draft again whose problem says why.',
  }),
  'demand_source.record_validation': defineCommand({
    ...base,
    type: 'demand_source.record_validation',
    from: ['validating'],
    to: 'active',
    changes: z.strictObject({ finding }),
    reason: leaseReason,
    machines: ['management'],
    settles: 'succeeded',
    event: 'demand_source.validated',
    problems: ['lease_lost'],
    externalEffect: 'From now on the address is asked regularly, and its ads are prepared.',
    summary: 'A worker reports that the answer of a demand source can be used.',
  }),
  'demand_source.fail_validation': defineCommand({
    ...base,
    type: 'demand_source.fail_validation',
    from: ['validating'],
    to: 'draft',
    changes: z.strictObject({ problem: foundProblem, finding: finding.optional() }),
    reason: leaseReason,
    machines: ['management'],
    settles: 'failed',
    event: 'demand_source.validation_failed',
    problems: ['lease_lost'],
    summary: 'A worker reports why the answer of a demand source cannot be used.',
  }),
  'demand_source.pause': defineCommand({
    ...person,
    type: 'demand_source.pause',
    from: ['active'],
    to: 'paused',
    changes: z.strictObject({ cause }),
    versionGuard: 'required',
    event: 'demand_source.paused',
    externalEffect: 'The address is not asked any more, and within seconds ad decisions no longer choose its ads.',
    summary: 'Pauses a demand source: the assignments of its ads end.',
  }),
  'demand_source.resume': defineCommand({
    ...person,
    type: 'demand_source.resume',
    from: ['paused'],
    to: 'active',
    changes: z.strictObject({}),
    versionGuard: 'required',
    event: 'demand_source.resumed',
    problems: ['validation_failed', 'link_not_found'],
    externalEffect: 'The address is asked again; its ads serve again with the next serving plan.',
    summary: 'Ends the pause of a demand source.',
  }),
  'demand_source.retire': defineCommand({
    ...person,
    type: 'demand_source.retire',
    from: ['draft', 'active', 'paused'],
    to: 'retired',
    changes: z.strictObject({ cause }),
    versionGuard: 'required',
    event: 'demand_source.retired',
    externalEffect: 'The address is not asked any more, and within seconds ad decisions no longer choose its ads.',
    summary: 'Ends a demand source permanently: the assignments of its ads end.',
  }),
  'demand_source.record_failure': defineCommand({
    ...base,
    type: 'demand_source.record_failure',
    from: ['active'],
    changes: z.strictObject({ problem: foundProblem }),
    machines: ['management'],
    event: 'demand_source.failed',
    summary: 'A worker reports that an active demand source has failed several times in a row; it has no new ads.',
  }),
  'demand_source.record_recovery': defineCommand({
    ...base,
    type: 'demand_source.record_recovery',
    from: ['active'],
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'demand_source.recovered',
    summary: 'A worker reports that a demand source that failed answers again.',
  }),
} as const;
