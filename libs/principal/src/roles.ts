/**
 * Roles inside a workspace. The hosting roles: `owner`, `editor` (content), `producer` (encoding),
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

/** Roles that manage members, collaborators and keys: the owner of an account, and members with that permission. */
export const managerRoles = ['owner', 'manager'] as const satisfies readonly Role[];

/** Each of these roles permits reading analytics. */
export const analyticsRoles: readonly Role[] = ['owner', 'admin', 'publisher', 'analyst'];

/** Each of these roles permits reading campaigns and counting their ads. */
export const campaignRoles: readonly Role[] = ['owner', 'admin', 'trafficker', 'sales'];

/**
 * Roles that an invitation grants on one podcast. Every collaborator also sees the analytics of the podcast, whatever the role; only members
 * of organizations need a role for analytics.
 */
export const collaboratorRoles = {
  editor: ['viewer', 'editor', 'producer', 'scheduler'],
  analyst: ['viewer', 'analyst'],
} as const satisfies Readonly<Record<string, readonly Role[]>>;
