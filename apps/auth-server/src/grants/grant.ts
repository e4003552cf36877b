import type { memberPermissions } from '@longwave/command-catalog';
import type { Role } from '@longwave/principal';

/** Grants that one statement carries at most; the oldest stay. */
export const grantsMax = 200;

type Permission = (typeof memberPermissions)[number];

const roleOf: Readonly<Record<Permission, Role>> = {
  edit: 'editor',
  encode: 'producer',
  publish: 'scheduler',
  view_analytics: 'analyst',
  manage_members: 'manager',
};

/** Roles of an organization's member in the owner's workspace; everybody there sees. */
export const rolesOfMember = (permissions: readonly Permission[]): Role[] => [
  'viewer',
  ...permissions.map((permission) => roleOf[permission]),
];

/** Roles of a collaborator on the one podcast. */
export const rolesOfCollaborator = (role: 'editor' | 'analyst'): Role[] =>
  role === 'editor' ? ['viewer', 'editor', 'producer', 'scheduler'] : ['viewer', 'analyst'];
