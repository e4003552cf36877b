import type { Catalog, CommandType } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { checkSubject, mergeChanges, type AnyRule, type Attributes, type CommandContext } from './accept-command.ts';
import type { Rule, Rules } from './command-rule.ts';
import { notFoundProblem, type ResourceRow } from '../store/resource-row.ts';
import { findResource } from '../read/find-resources.ts';

/**
 * The rule of a command, undefined when it has none. The only cast from a rule's own types: `parseRequest` parsed what the rule gets
 * with the command's schema, and `saveVersion` parses what it answers with the schema of the subject.
 */
export const ruleOf = <K extends Catalog>(rules: Rules<K>, commandType: CommandType<K>): AnyRule | undefined =>
  (rules as unknown as Readonly<Record<string, AnyRule | undefined>>)[commandType];

/**
 * The rule of a command, once it has asked outside whatever it must; never inside the transaction.
 * @param subject the subject's row when it was read already
 */
export async function prepareRule(
  pool: Pool,
  step: Omit<CommandContext, 'rule'>,
  rule: AnyRule | undefined,
  subject?: ResourceRow,
): Promise<Rule<Attributes, Attributes>> {
  if (rule === undefined) return mergeChanges;
  if (typeof rule === 'function') return rule;
  const { workspaceId } = step.request;
  const row =
    step.definition.from === null
      ? undefined
      : (subject ?? (await findResource(pool, workspaceId, step.resource.type, step.subjectId)));
  if (step.definition.from !== null) {
    if (!row) throw notFoundProblem(step.resource, step.subjectId);
    // The fixed order of checks: a stale version or a wrong state is refused before anyone outside is asked.
    checkSubject(step, row);
  }
  return rule.prepare({
    workspaceId,
    subjectId: step.subjectId,
    current: row?.attributes,
    state: row?.lifecycle_state,
    actor: step.actor,
    changes: step.parsed.changes,
    deadline: step.request.deadline,
  });
}
