import {
  identityCatalog,
  type ChangesInput,
  type IdentityCommand,
  type Resource,
  type SubjectOf,
} from '@longwave/command-catalog';
import { notFoundProblem } from '@longwave/hosting-client';
import { isProblem } from '@longwave/problems';
import type { Call, Deps } from '../route.ts';

/** Sends a command to something of the caller's own account that the path names. What has ended is as absent as what never was. */
export async function sendToIdentity<C extends IdentityCommand>(
  { caller, id, idempotencyKey }: Pick<Call, 'caller' | 'id' | 'idempotencyKey'>,
  { identity }: Pick<Deps, 'identity'>,
  type: C,
  changes: ChangesInput<C>,
): Promise<Resource<SubjectOf<C>>> {
  const { workspaceId } = caller;
  try {
    return (await identity.execute(caller, { type, workspaceId, subjectId: id, changes, idempotencyKey })).resource;
  } catch (error) {
    if (!isProblem(error, 'state_not_allowed')) throw error;
    throw notFoundProblem(identityCatalog.resources[identityCatalog.commands[type].subject].noun, id);
  }
}
