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

/** Roles of an account's owner in the account's workspace. */
export const ownerRoles = ['owner', 'publisher', 'trafficker', 'sales', 'admin'] as const satisfies readonly Role[];

/** The role that each permission of an organization's member gives. */
const roleOfPermission = {
  edit: 'editor',
  encode: 'producer',
  publish: 'scheduler',
  view_analytics: 'analyst',
  manage_members: 'manager',
  review: 'reviewer',
} as const satisfies Readonly<Record<string, Role>>;

/** Roles of an organization's member in the owner's workspace; every member is a viewer. */
export const rolesOfMember = (permissions: readonly (keyof typeof roleOfPermission)[]): Role[] => [
  'viewer',
  ...permissions.map((permission) => roleOfPermission[permission]),
];

/**
 * Roles that an authority grant gives, each with `viewer`. The owner's own role and the hosting roles are not among them: those come from
 * accounts, memberships and collaborations.
 */
export const grantedRoles = [
  'viewer',
  'trafficker',
  'sales',
  'reviewer',
  'finance',
  'publisher',
  'admin',
] as const satisfies readonly Role[];

/** Roles that manage members, collaborators and keys: the owner of an account, and members with that permission. */
export const managerRoles = ['owner', 'manager'] as const satisfies readonly Role[];

/** Each of these roles permits reading analytics. */
export const analyticsRoles: readonly Role[] = ['owner', 'admin', 'publisher', 'analyst'];

/** Each of these roles permits reading campaigns and counting their ads. */
export const campaignRoles: readonly Role[] = ['owner', 'admin', 'trafficker', 'sales'];

/** Each of these roles permits reading what is promised, made good and charged: those of campaigns and of money, and who reviews them. */
export const commerceRoles: readonly Role[] = [...campaignRoles, 'finance', 'reviewer'];

/**
 * Roles that an invitation grants on one podcast. Every collaborator also sees the analytics of the podcast, whatever the role; only members
 * of organizations need a role for analytics.
 */
export const collaboratorRoles = {
  editor: ['viewer', 'editor', 'producer', 'scheduler'],
  analyst: ['viewer', 'analyst'],
} as const satisfies Readonly<Record<string, readonly Role[]>>;
