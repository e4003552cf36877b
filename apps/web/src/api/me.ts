import { queryOptions, useQuery } from '@tanstack/react-query';
import { ApiProblem, problemOf } from './problems.ts';

/** A workspace in which the person sees something. */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  /** ISO 4217. */
  readonly currency: string;
  /** IANA. */
  readonly timeZone: string;
  /** Of the person in the whole workspace; none where single podcasts are seen. */
  readonly roles: readonly string[];
}

/** Who is signed in. */
export interface Me {
  /** Names the person in the account that the session works in: what a browser keeps for one is nobody else's. */
  readonly owner: string;
  readonly name: string;
  /** What the person chose (BCP 47, IANA); undefined where nothing was. */
  readonly locale: string | undefined;
  readonly timeZone: string | undefined;
  /** The person, and the own workspace of the account that the session works in. */
  readonly personId: string;
  readonly ownWorkspaceId: string;
  readonly workspaces: readonly Workspace[];
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

type Part = Readonly<Record<string, unknown>>;

const parseWorkspace = (row: Part): Workspace => ({
  id: textOf(row['id']) ?? '',
  name: textOf(row['name']) ?? '',
  currency: textOf(row['currency']) ?? '',
  timeZone: textOf(row['time_zone']) ?? 'UTC',
  roles: Array.isArray(row['roles']) ? row['roles'].filter((role) => typeof role === 'string') : [],
});

/** Reads `GET /me` of the Management API. */
export function parseMe(body: unknown): Me {
  const { account, person, own_workspace_id, workspaces } = (body ?? {}) as {
    readonly account?: Part;
    readonly person?: Part;
    readonly own_workspace_id?: unknown;
    readonly workspaces?: unknown;
  };
  return {
    personId: textOf(person?.['id']) ?? '',
    ownWorkspaceId: textOf(own_workspace_id) ?? '',
    workspaces: Array.isArray(workspaces) ? (workspaces as Part[]).map(parseWorkspace) : [],
    owner: [account, person].map((part) => textOf(part?.['id']) ?? '').join(' '),
    name: textOf(person?.['name']) ?? '',
    locale: textOf(person?.['locale']),
    timeZone: textOf(person?.['time_zone']),
  };
}

/**
 * Asks who is signed in now.
 * @throws ApiProblem
 */
export async function fetchMe(signal?: AbortSignal): Promise<Me> {
  const response = await fetch('/management/v1/me', { signal: signal ?? null }).catch((cause: unknown) => {
    throw new ApiProblem('', { status: 0, slug: 'no_answer', cause });
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw problemOf(response, body);
  return parseMe(body);
}

/** The person of the session. Pages do without where it cannot be had: the language is then the browser's, the zone the device's. */
export const meQuery = queryOptions({
  queryKey: ['management', '/me'] as const,
  queryFn: ({ signal }): Promise<Me> => fetchMe(signal),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

/** The person, once known. */
export const useMe = (): Me | undefined => useQuery(meQuery).data;

/** Roles that see campaigns, how line items were decided about, and why. */
export const campaignRoles: readonly string[] = ['owner', 'admin', 'trafficker', 'sales'];

/** Whether the person reads decisions and funnels of a workspace; to others they are refused. */
export const seesCampaigns = ({ roles }: Pick<Workspace, 'roles'>): boolean =>
  campaignRoles.some((role) => roles.includes(role));

/**
 * Whether the person has one of these roles in the account that the session works in. Who only helps with podcasts of others has roles there that
 * these pages do not know: the server refuses what they do not allow.
 */
export function useHasRole(...wanted: readonly string[]): boolean {
  const me = useMe();
  const { roles = [] } = me?.workspaces.find(({ id }) => id === me.ownWorkspaceId) ?? {};
  return roles.length === 0 || wanted.some((role) => roles.includes(role));
}

/** A workspace by its id; undefined for one in which the person sees nothing. */
export const useWorkspace = (id: string): Workspace | undefined =>
  useMe()?.workspaces.find((workspace) => workspace.id === id);
