import { isId } from '@longwave/ids';
import { Problem } from '@longwave/problems';

/** Throws `validation_failed` unless a command names its workspace: the operator is at home in none. */
export function requireWorkspace(workspaceId: string): void {
  if (!isId(workspaceId, 'ws'))
    throw new Problem(
      'validation_failed',
      'workspace_id: Write an ID of the form ws_…. A new account brings a new one.',
    );
}
