import {
  trackingScopes,
  type Attributes,
  type CommandWithRule,
  type LinkOf,
  type productCatalog,
} from '@longwave/command-catalog';
import { listLinked, type Rules } from '@longwave/command-pipeline';
import { checkUrl } from '@longwave/guarded-fetch';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { parseTrackingTemplate } from '@longwave/vast';
import { finishJob, insertJob } from '../../background/job-table.ts';
import { assertFewOpenJobs } from '../../background/open-jobs.ts';
import { refuseField } from '../../workspace/refuse-field.ts';

type Catalog = typeof productCatalog;
type TrackingRules = Pick<Rules<Catalog>, Extract<CommandWithRule<Catalog>, `tracking_endpoint.${string}`>>;
type TrackingEndpoint = Attributes<'tracking_endpoints'>;

/** Endpoints of one advertiser, campaign, line item or creative that are not retired: each of them is a request for each serving. */
const maxEndpointsOfScope = 10;

const linkOf = {
  advertiser_id: 'advertiser',
  campaign_id: 'campaign',
  line_item_id: 'line_item',
  creative_id: 'creative',
} as const satisfies Record<(typeof trackingScopes)[number], LinkOf<'tracking_endpoints'>>;

/** Throws `validation_failed` when the advertiser, campaign, line item or creative has as many endpoints as it may. */
async function assertRoom(tx: Transaction, workspaceId: string, changes: Partial<TrackingEndpoint>): Promise<void> {
  const field = trackingScopes.find((name) => changes[name] !== undefined)!;
  const all = await listLinked(tx, workspaceId, 'tracking_endpoints', linkOf[field], changes[field]!);
  if (all.filter(({ lifecycle_state: state }) => state !== 'retired').length < maxEndpointsOfScope) return;
  refuseField(
    `/changes/${field}`,
    'too_many',
    `There are ${maxEndpointsOfScope} tracking endpoints of ${changes[field]!}. Retire one first.`,
  );
}

/** Rules of tracking endpoints; `allowOrigins` may be private or on another port, for development. */
export function trackingEndpointRules({ allowOrigins }: { readonly allowOrigins: readonly string[] }): TrackingRules {
  const allowed = new Set(allowOrigins.map((origin) => new URL(origin).origin));

  /** The fields that follow from an address. Throws `validation_failed` unless it may be called; its name is resolved at each call. */
  function addressed(url: string): Pick<TrackingEndpoint, 'url_template' | 'allowed_macros'> {
    const template = parseTrackingTemplate(url);
    if (template.kind === 'refused') return refuseField('/changes/url_template', 'not_callable', template.reason);
    try {
      checkUrl(template.url, allowed);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return refuseField('/changes/url_template', 'not_callable', error.message);
    }
    return { url_template: template.url, allowed_macros: [...template.macros] };
  }

  return {
    'tracking_endpoint.create': async ({ tx, workspaceId, changes }) => {
      await assertRoom(tx, workspaceId, changes);
      return { attributes: { ...changes, events: [...new Set(changes.events)], ...addressed(changes.url_template) } };
    },

    'tracking_endpoint.revise': ({ current, state, changes: { url_template: url, events, ...rest } }) => {
      const kept = { ...current, ...rest, ...(events && { events: [...new Set(events)] }) };
      if (url === undefined || url === current.url_template) return { attributes: kept };
      if (state === 'active')
        return refuseField(
          '/changes/url_template',
          'state_not_allowed',
          'The address of an active endpoint does not change. Disable it, change the address, and have it validated again.',
        );
      const { validated_at: _at, problem: _problem, ...others } = kept;
      return { attributes: { ...others, ...addressed(url) } };
    },

    'tracking_endpoint.validate': async ({ tx: held, workspaceId, subjectId, current, now }) => {
      await assertFewOpenJobs(held, workspaceId, 'check_tracking_endpoint', 'checks of tracking endpoints');
      const { problem: _before, ...attributes } = current;
      return {
        attributes: { ...attributes, ...addressed(current.url_template) },
        also: (tx, { version }) =>
          insertJob(tx, {
            kind: 'check_tracking_endpoint',
            workspaceId,
            subjectType: 'tracking_endpoints',
            subjectId,
            subjectVersion: version,
            input: {},
            now,
          }),
      };
    },

    'tracking_endpoint.record_validation': ({ current, subjectId, reason, now }) => ({
      attributes: { ...current, validated_at: now.toISOString() },
      also: (tx) => finishJob(tx, subjectId, reason),
    }),

    'tracking_endpoint.fail_validation': ({ current, changes, subjectId, reason }) => {
      const { validated_at: _at, ...attributes } = current;
      return { attributes: { ...attributes, ...changes }, also: (tx) => finishJob(tx, subjectId, reason) };
    },

    'tracking_endpoint.enable': ({ current }) => {
      if (current.validated_at === undefined)
        throw new Problem('state_not_allowed', 'The address has changed since it was validated. Validate it again.');
      return { attributes: current };
    },
  };
}
