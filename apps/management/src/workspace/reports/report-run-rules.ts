import type { ChangesOf, productCatalog } from '@longwave/command-catalog';
import {
  accessOf,
  actorId,
  findResource,
  findRevision,
  type Decision,
  type ResourceRow,
  type RuleInput,
  type Rules,
} from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { ReportOptions } from './run-report.ts';
import { finishJob, insertJob, requireLease, stopJobs } from '../../background/job-table.ts';
import { assertFewOpenJobs } from '../../background/open-jobs.ts';
import { listPoliciesInForce } from '../policies/policies-in-force.ts';
import { assertWindow, settingsOf, type ReportRun } from './report.ts';
import { lastPeriod, nextRunAt } from './report-schedule.ts';
import { isDueAt, setNextRun } from './report-schedule-table.ts';

type RunCommand = Extract<keyof Rules<typeof productCatalog>, `report.${string}` | `report_run.${string}`>;
type RunRules = Pick<Rules<typeof productCatalog>, RunCommand>;

const dayMs = 86_400_000;
/** No person waits for a report as for an episode: the work of people goes before it. */
const workload = { workClass: 'bulk', expectedMs: 30_000 } as const;

const assertFewRuns = (tx: Transaction, workspaceId: string) =>
  assertFewOpenJobs(tx, workspaceId, 'run_report', 'report runs');

/** An active definition of the workspace. Throws `link_not_found` or `state_not_allowed`. */
async function activeDefinition(
  tx: Transaction,
  workspaceId: string,
  id: string,
): Promise<ResourceRow<'report_definitions'>> {
  const definition = await findResource(tx, workspaceId, 'report_definitions', id);
  if (!definition) throw new Problem('link_not_found', `There is no report definition ${id}.`);
  if (definition.lifecycle_state !== 'active')
    throw new Problem(
      'state_not_allowed',
      `The report definition is “${definition.lifecycle_state}”. Activate it first.`,
    );
  return definition;
}

/** The decision that saves a new run and queues its job. */
const queued = (
  attributes: ReportRun,
  { workspaceId, subjectId, now }: RuleInput<ReportRun, unknown>,
  also?: (tx: Transaction) => Promise<void>,
): Decision<ReportRun> => ({
  attributes,
  also: async (tx, { version }) => {
    await insertJob(tx, {
      kind: 'run_report',
      workspaceId,
      subjectType: 'report_runs',
      subjectId,
      subjectVersion: version,
      input: {},
      now,
      work: workload,
    });
    await also?.(tx);
  },
});

/** A run of a version of a report, over a window that the client names. */
async function requestRun(input: RuleInput<ReportRun, ChangesOf<'report.run'>>): Promise<Decision<ReportRun>> {
  const { tx, workspaceId, changes, actor } = input;
  const { definition_version: version, window } = changes;
  const definition = await activeDefinition(tx, workspaceId, changes.definition_id);
  const revision = await findRevision(tx, definition, version);
  if (!revision)
    throw new Problem(
      'link_not_found',
      `The report definition has no version ${version}; it is at ${definition.version}.`,
    );
  const settings = settingsOf(revision.attributes);
  assertWindow(window, settings.time_zone);
  await assertFewRuns(tx, workspaceId);
  return queued({ ...changes, ...settings, requested_by: actorId(actor) }, input);
}

/**
 * Rules of the commands of report runs.
 * @param options.keptDays how long a result is kept, where no policy of the workspace says less
 */
export const reportRunRules = ({
  keptDays,
  findPlan,
}: Pick<ReportOptions, 'findPlan'> & { readonly keptDays: number }): RunRules => ({
  'report.run': {
    prepare: async ({ workspaceId }) => {
      const { plan } = await findPlan({ workspaceId }, {});
      // A workspace whose account auth-server does not know yet is asked about again when its report is counted.
      if (plan?.includesAnalytics === false)
        throw new Problem('analytics_unavailable', 'The plan of the workspace includes no analytics.');
      return requestRun;
    },
  },

  'report_run.schedule': async (input) => {
    const { tx, workspaceId, changes, actor } = input;
    const { definition_id: definitionId, scheduled_for: scheduledFor } = changes;
    const definition = await activeDefinition(tx, workspaceId, definitionId);
    const { schedule, time_zone: timeZone } = definition.attributes;
    const at = new Date(scheduledFor);
    if (!schedule || !(await isDueAt(tx, definitionId, at)))
      throw new Problem('state_not_allowed', 'No run of this report is due at this time.');
    await assertFewRuns(tx, workspaceId);
    const { start, end } = lastPeriod(schedule, timeZone, at);
    return queued(
      {
        definition_id: definitionId,
        definition_version: definition.version,
        window: { start: start.toISOString(), end: end.toISOString() },
        ...settingsOf(definition.attributes),
        requested_by: actorId(actor),
        scheduled_for: scheduledFor,
      },
      input,
      (inner) => setNextRun(inner, { id: definitionId, workspaceId }, nextRunAt(schedule, timeZone, at)),
    );
  },

  'report_run.begin': async ({ tx, current, subjectId, reason }) => {
    await requireLease(tx, subjectId, reason);
    return { attributes: current };
  },

  'report_run.record': async ({ tx: db, workspaceId, current, changes, subjectId, reason, now }) => {
    const [policy] = await listPoliciesInForce(db, workspaceId, ['retention']);
    const days = Math.min(keptDays, policy?.rules.report_days ?? keptDays);
    return {
      attributes: { ...current, ...changes, expires_at: new Date(now.getTime() + days * dayMs).toISOString() },
      also: (tx) => finishJob(tx, subjectId, reason),
      ...(policy && { policyVersions: [{ id: policy.id, version: policy.version }] }),
    };
  },

  'report_run.fail': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'report_run.cancel': ({ current, workspaceId, subjectId, actor }) => {
    const isAdmin =
      actor.kind === 'service' || accessOf(actor, workspaceId, { roles: ['owner', 'admin'] }).outcome === 'permitted';
    if (!isAdmin && actorId(actor) !== current.requested_by)
      throw new Problem('permission_denied', 'Only whoever asked for the run, an owner or an admin may cancel it.');
    return { attributes: current, also: (tx) => stopJobs(tx, subjectId) };
  },
});
