import { findResource, type CheckWorkspace } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';

/**
 * Throws `state_not_allowed` for a command that a suspended or closed workspace does not take. Services come to an end with what has begun;
 * people, the operator and the commands of people that a review has approved go on only with what the catalog accepts while suspended, and
 * the operator with what it accepts while closed.
 */
export const checkWorkspace: CheckWorkspace = async (tx, { definition, actor, request: { workspaceId } }) => {
  const { whileSuspended, whileClosed } = definition;
  const isOwnWork = actor.kind === 'service' && actor.name !== 'operator' && actor.requestedBy === undefined;
  if (isOwnWork && whileSuspended !== 'refused') return;
  const workspace = await findResource(tx, workspaceId, 'workspaces', workspaceId);
  if (!workspace) return;
  const { lifecycle_state: state, id, version } = workspace;
  if (state !== 'suspended' && state !== 'closed') return;
  if (state === 'suspended' && whileSuspended === 'accepted') return;
  const isOperator = actor.kind === 'service' && actor.name === 'operator';
  if (state === 'closed' && whileClosed === 'operator' && isOperator) return;
  const detail = `The workspace is ${state}, and takes no ${definition.type}.`;
  throw new Problem('state_not_allowed', detail, { subject: { type: 'workspaces', id, version } });
};
