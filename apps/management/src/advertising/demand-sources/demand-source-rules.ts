import type { Attributes, productCatalog, CommandWithRule } from '@longwave/command-catalog';
import { findResource, listInStates, type Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { httpsUrlFault } from '@longwave/vast';
import { finishJob, insertJob } from '../../background/job-table.ts';
import { assertFewOpenJobs } from '../../background/open-jobs.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireCurrency } from '../../workspace/require-currency.ts';
import { requireResources } from '../../workspace/require-resources.ts';
import { endedLineItemStates } from '../campaigns/campaign.ts';
import { startRefreshing, stopRefreshing } from './demand-table.ts';
import { allowsHost, isPriced } from './demand-source.ts';

type Catalog = typeof productCatalog;
type DemandSource = Attributes<'demand_sources'>;
type DemandSourceRules = Pick<Rules<Catalog>, Extract<CommandWithRule<Catalog>, `demand_source.${string}`>>;

/** Sources of a workspace that are not retired: each is asked every quarter of an hour. */
const maxSources = 50;

/** Throws `validation_failed` when the workspace has as many sources as it may. */
async function assertRoom(tx: Transaction, workspaceId: string): Promise<void> {
  const sources = await listInStates(tx, workspaceId, 'demand_sources', ['draft', 'validating', 'active', 'paused']);
  if (sources.length < maxSources) return;
  refuseField('/changes/name', 'too_many', `The workspace has ${maxSources} demand sources. Retire one first.`);
}

/** Throws for an address that is never asked. */
function checkEndpoint({ endpoint, allowed_hosts: hosts }: DemandSource, at: string): void {
  const path = `${at}/endpoint`;
  const fault = httpsUrlFault(endpoint);
  if (fault !== undefined) refuseField(path, 'not_an_https_address', `The endpoint ${fault}.`);
  const { hostname } = new URL(endpoint.replace(/[?#].*$/s, ''));
  if (!allowsHost(hosts, hostname))
    refuseField(path, 'host_not_allowed', `The host of the endpoint, ${hostname}, is not among allowed_hosts.`);
}

/** Throws unless the line item can sell what a source answers with: a non-guaranteed one with a price that is not below the floor. */
async function checkLineItem(tx: Transaction, workspaceId: string, source: DemandSource, at: string): Promise<void> {
  const path = `${at}/line_item_id`;
  const [row] = await requireResources(tx, {
    ...{ workspaceId, type: 'line_items', ids: [source.line_item_id], path },
    unless: endedLineItemStates,
  });
  const { type, rate } = row!.attributes;
  if (type !== 'non_guaranteed' || rate.model !== 'cpm')
    refuseField(path, 'not_by_the_thousand', 'Name a line item of the type non_guaranteed with the price model cpm.');
  await requireCurrency(tx, workspaceId, source.floor, `${at}/floor`);
  if (!isPriced(source, row!.attributes))
    refuseField(`${at}/floor`, 'price_below_floor', 'The price of the line item is below the floor of the source.');
}

async function checked(tx: Transaction, workspaceId: string, source: DemandSource, at: string): Promise<DemandSource> {
  checkEndpoint(source, at);
  await checkLineItem(tx, workspaceId, source, at);
  return source;
}

const withoutProblem = ({ problem: _problem, ...kept }: Readonly<DemandSource>): DemandSource => kept;

/** Rules of the demand source commands. */
export const demandSourceRules: DemandSourceRules = {
  'demand_source.create': async ({ tx, workspaceId, changes }) => {
    await assertRoom(tx, workspaceId);
    return { attributes: await checked(tx, workspaceId, changes, '/changes') };
  },

  'demand_source.revise': async ({ tx, workspaceId, current, changes, subjectId, now }) => ({
    attributes: await checked(tx, workspaceId, { ...withoutProblem(current), ...changes }, '/changes'),
    also: (inner) => stopRefreshing(inner, subjectId, now),
  }),

  'demand_source.validate': async ({ tx, workspaceId, subjectId, current, now }) => {
    await assertFewOpenJobs(tx, workspaceId, 'validate_demand_source', 'validations of demand sources');
    return {
      attributes: await checked(tx, workspaceId, withoutProblem(current), '/attributes'),
      also: (inner, { version }) =>
        insertJob(inner, {
          kind: 'validate_demand_source',
          workspaceId,
          subjectType: 'demand_sources',
          subjectId,
          subjectVersion: version,
          input: {},
          now,
        }),
    };
  },

  'demand_source.record_validation': ({ workspaceId, subjectId, current, changes, reason, now }) => ({
    attributes: { ...current, ...changes },
    also: async (tx) => {
      await finishJob(tx, subjectId, reason);
      await startRefreshing(tx, workspaceId, subjectId, now);
    },
  }),

  'demand_source.fail_validation': ({ subjectId, current, changes, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'demand_source.pause': ({ subjectId, current, now }) => ({
    attributes: current,
    also: (tx) => stopRefreshing(tx, subjectId, now),
  }),

  'demand_source.resume': async ({ tx, workspaceId, subjectId, current, now }) => ({
    attributes: await checked(tx, workspaceId, withoutProblem(current), '/attributes'),
    also: (inner) => startRefreshing(inner, workspaceId, subjectId, now),
  }),

  'demand_source.retire': ({ subjectId, current, now }) => ({
    attributes: current,
    also: (tx) => stopRefreshing(tx, subjectId, now),
  }),

  'demand_source.record_failure': ({ current, changes }) => ({ attributes: { ...current, ...changes } }),

  'demand_source.record_recovery': ({ current }) => ({ attributes: withoutProblem(current) }),
};

/** The advertiser whose campaign has the line item of a source. */
export async function advertiserOf(
  tx: Transaction,
  workspaceId: string,
  { line_item_id: lineItemId }: Pick<DemandSource, 'line_item_id'>,
): Promise<string> {
  const lineItem = await findResource(tx, workspaceId, 'line_items', lineItemId);
  const campaign = await findResource(tx, workspaceId, 'campaigns', lineItem!.attributes.campaign_id);
  return campaign!.attributes.advertiser_id;
}
