/**
 * Roles inside a workspace (design: commands.md §1). The hosting roles: `owner`, `editor` (content), `producer` (encoding),
 * `scheduler` (publishing), `analyst` (analytics), `manager` (collaborators).
 */
export const roles = [
  'viewer',
  'trafficker',
  'sales',
  'reviewer',
  'finance',
  'publisher',
  'admin',
  'owner',
  'editor',
  'analyst',
  'producer',
  'scheduler',
  'manager',
] as const;
export type Role = (typeof roles)[number];

/** Whoever holds one of these sees analytics (contract, Authentication, rule 7). */
export const analyticsRoles: readonly Role[] = ['owner', 'admin', 'publisher', 'analyst'];

/**
 * Roles on the one podcast that an invitation gives. Analytics come beside them: every collaborator sees the numbers of its podcast,
 * whatever the invitation says (contract, Authentication, rule 7, asks the permission of members of organizations only).
 */
export const collaboratorRoles = {
  editor: ['viewer', 'editor', 'producer', 'scheduler'],
  analyst: ['viewer', 'analyst'],
} as const satisfies Readonly<Record<string, readonly Role[]>>;
