import type { Role } from '@longwave/principal';

/** Roles of one person in a workspace; a person may be in several of these. */
export interface RoleHolder {
  /** The user, or an account that has none. */
  readonly person: string;
  /** Absent: everything in the workspace. */
  readonly podcastId?: string;
  readonly roles: readonly Role[];
}

/**
 * The people who hold one of the roles and are not excluded, each once.
 * @param podcastId the podcast that a role must cover; undefined: only roles in the whole workspace count
 */
export function peopleWith(
  holders: readonly RoleHolder[],
  {
    roles,
    podcastId,
    except,
  }: {
    readonly roles: readonly Role[];
    readonly podcastId: string | undefined;
    readonly except: readonly string[];
  },
): ReadonlySet<string> {
  return new Set(
    holders
      .filter((holder) => holder.podcastId === undefined || holder.podcastId === podcastId)
      .filter((holder) => roles.some((role) => holder.roles.includes(role)))
      .map(({ person }) => person)
      .filter((person) => !except.includes(person)),
  );
}
