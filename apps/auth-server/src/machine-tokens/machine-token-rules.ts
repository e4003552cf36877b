import type { identityCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { Problem, type FieldError } from '@longwave/problems';
import { findWorkspaces } from '../identity-table.ts';

const dayMs = 86_400_000;
/** Longest life of a token that an operator issues; the public half of a signing key is kept that long. */
const maxLifeMs = 400 * dayMs;

const refused = (errors: readonly FieldError[]) =>
  new Problem('validation_failed', errors.map(({ path, detail }) => `${path}: ${detail}`).join(' '), { errors });

/** Rules of the machine token commands. */
export const machineTokenRules: Pick<Rules<typeof identityCatalog>, 'machine_token.issue'> = {
  'machine_token.issue': async ({ tx, workspaceId, changes, now }) => {
    const errors: FieldError[] = [];
    const lifeMs = Date.parse(changes.expires_at) - now.getTime();
    if (lifeMs <= 0 || lifeMs > maxLifeMs)
      errors.push({
        path: '/changes/expires_at',
        code: 'out_of_range',
        detail: 'A token expires in the future, within 400 days.',
      });
    const known = await findWorkspaces(tx, changes.workspaces);
    for (const [index, workspace] of changes.workspaces.entries())
      if (!known.has(workspace))
        errors.push({
          path: `/changes/workspaces/${index}`,
          code: 'unknown_workspace',
          detail: `There is no workspace ${workspace}.`,
        });
    if (!changes.workspaces.includes(workspaceId))
      errors.push({ path: '/changes/workspaces', code: 'other_workspace', detail: `Name ${workspaceId} as well.` });
    if (errors.length > 0) throw refused(errors);
    return {
      attributes: {
        ...changes,
        workspaces: [...new Set(changes.workspaces)].sort(),
        scopes: [...new Set(changes.scopes)].sort(),
      },
    };
  },
};
