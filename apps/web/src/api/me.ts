import { queryOptions, useQuery } from '@tanstack/react-query';
import { ApiProblem, problemOf } from './problems.ts';

/** Who is signed in. */
export interface Me {
  /** Names the person in the account that the session works in: what a browser keeps for one is nobody else's. */
  readonly owner: string;
  readonly name: string;
  /** What the person chose (BCP 47, IANA); undefined where nothing was. */
  readonly locale: string | undefined;
  readonly timeZone: string | undefined;
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

/** Reads `GET /me` of the Management API. */
export function parseMe(body: unknown): Me {
  type Part = Readonly<Record<string, unknown>>;
  const { account, person } = (body ?? {}) as { readonly account?: Part; readonly person?: Part };
  return {
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
