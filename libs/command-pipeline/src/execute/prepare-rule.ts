import type { Catalog, CommandType } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { checkSubject, mergeChanges } from './accept-command.ts';
import type { AnyAttributes, AnyRule, CommandContext } from './command-context.ts';
import type { Rule, Rules } from './command-rule.ts';
import { notFoundProblem, type ResourceRow } from '../store/resource-row.ts';
import { findResource } from '../read/find-resources.ts';

/**
 * The rule of a command, undefined when it has none. This is the only cast from a rule's own types: `parseRequest` has parsed the changes
 * with the command's schema, and `saveVersion` parses the decided attributes with the subject's.
 */
export const ruleOf = <K extends Catalog>(rules: Rules<K>, commandType: CommandType<K>): AnyRule | undefined =>
  (rules as unknown as Readonly<Record<string, AnyRule | undefined>>)[commandType];

/**
 * Prepares the rule of a command, outside the transaction.
 * @param subject the subject's row, when the caller has read it already
 */
export async function prepareRule(
  pool: Pool,
  context: Omit<CommandContext, 'rule'>,
  rule: AnyRule | undefined,
  subject?: ResourceRow,
): Promise<Rule<AnyAttributes, AnyAttributes>> {
  if (rule === undefined) return mergeChanges;
  if (typeof rule === 'function') return rule;
  const { workspaceId } = context.request;
  const row =
    context.definition.from === null
      ? undefined
      : (subject ?? (await findResource(pool, workspaceId, context.resource.type, context.subjectId)));
  if (context.definition.from !== null) {
    if (!row) throw notFoundProblem(context.resource, context.subjectId);
    // A stale version or a wrong state is refused before another service is asked.
    checkSubject(context, row);
  }
  return rule.prepare({
    workspaceId,
    subjectId: context.subjectId,
    current: row?.attributes,
    state: row?.lifecycle_state,
    actor: context.actor,
    changes: context.parsed.changes,
    deadline: context.request.deadline,
  });
}
