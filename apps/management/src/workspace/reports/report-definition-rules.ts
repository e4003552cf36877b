import type { productCatalog } from '@longwave/command-catalog';
import { findResource, type Decision, type RuleInput, type Rules } from '@longwave/command-pipeline';
import { assertCountable, type ReportDefinition } from './report.ts';
import { nextRunAt } from './report-schedule.ts';
import { setNextRun } from './report-schedule-table.ts';

type DefinitionRules = Pick<
  Rules<typeof productCatalog>,
  Extract<keyof Rules<typeof productCatalog>, `report_definition.${string}`>
>;
type Input = RuleInput<ReportDefinition, unknown>;

/** The decision that saves a definition and, while it is active, when its next run is due. */
const saved = (
  attributes: ReportDefinition,
  { workspaceId, subjectId, now }: Input,
  isActive: boolean,
): Decision<ReportDefinition> => ({
  attributes,
  also: (tx) => {
    const { schedule, time_zone: timeZone } = attributes;
    const at = isActive && schedule ? nextRunAt(schedule, timeZone, now) : undefined;
    return setNextRun(tx, { id: subjectId, workspaceId }, at);
  },
});

/** Rules of the commands of report definitions. */
export const reportDefinitionRules: DefinitionRules = {
  'report_definition.create': async ({ tx, workspaceId, changes, now }) => {
    const workspace = await findResource(tx, workspaceId, 'workspaces', workspaceId);
    const attributes = { ...changes, time_zone: changes.time_zone ?? workspace?.attributes.time_zone ?? 'UTC' };
    assertCountable(attributes, now);
    return { attributes };
  },

  'report_definition.revise': (input) => {
    const { schedule: kept, ...before } = input.current;
    const { schedule = kept, ...changes } = input.changes;
    const attributes = { ...before, ...changes, ...(schedule && { schedule }) };
    assertCountable(attributes, input.now);
    return saved(attributes, input, input.state === 'active');
  },

  'report_definition.activate': (input) => saved(input.current, input, true),

  'report_definition.archive': (input) => saved(input.current, input, false),
};
