import type { productCatalog } from '@longwave/command-catalog';
import { findResource, type Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { refuseField } from '../refuse-field.ts';
import { lockWorkspaceId } from './workspace-table.ts';

type WorkspaceRules = Pick<
  Rules<typeof productCatalog>,
  'workspace.provision' | 'workspace.configure' | 'workspace.resume' | 'workspace.close'
>;

function assertNotClosing({ closing_since: since }: { readonly closing_since?: string | undefined }): void {
  if (since !== undefined) throw new Problem('state_not_allowed', 'The workspace is being closed for good.');
}

/** Rules of the workspace commands. */
export const workspaceRules: WorkspaceRules = {
  'workspace.provision': async ({ tx, workspaceId, changes }) => {
    await lockWorkspaceId(tx, workspaceId);
    if (await findResource(tx, workspaceId, 'workspaces', workspaceId))
      throw new Problem('value_taken', 'The account has its workspace already.');
    return { attributes: { currency: 'EUR', time_zone: 'UTC', ...changes } };
  },

  'workspace.configure': ({ current, changes }) => {
    if (Object.keys(changes).length === 0) refuseField('/changes', 'required', 'Send a name or a time zone.');
    return { attributes: { ...current, ...changes } };
  },

  'workspace.resume': ({ current }) => {
    assertNotClosing(current);
    return { attributes: current };
  },

  'workspace.close': ({ current, changes, now }) => {
    assertNotClosing(current);
    if (changes.confirm_name !== current.name)
      refuseField('/changes/confirm_name', 'other_name', 'This is not the name of the workspace.');
    return { attributes: { ...current, closing_since: now.toISOString() } };
  },
};
