/** Permissions of a member of an organization. */
export const memberPermissions = ['edit', 'encode', 'publish', 'view_analytics', 'manage_members', 'review'] as const;
