import { collaboratorRoles, type Role } from '@longwave/principal';

/** Grants that one statement carries at most; the oldest stay. */
export const maxGrants = 200;

/** Collaborations that count of those which one workspace gives: invitations of one workspace never crowd out those of others. */
export const maxCollaborationsPerWorkspace = 50;

/** The roles in which a podcast invites collaborators. */
export const collaborationRoles = ['editor', 'analyst'] as const;

/**
 * Roles of a collaborator on the one podcast: those of all its invitations, and analyst. A member of the organization that owns the
 * podcast is an analyst only by its permission or by an invitation as analyst: no member can gain the role by inviting its own address
 * to edit.
 */
export const rolesOfCollaborator = (
  invitedAs: readonly (typeof collaborationRoles)[number][],
  { isMember }: { readonly isMember: boolean },
): Role[] => {
  const invited = invitedAs.flatMap((role): readonly Role[] => collaboratorRoles[role]);
  return [...new Set<Role>(isMember ? invited : [...invited, 'analyst'])];
};
