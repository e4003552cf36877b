import { queryOptions, useQuery } from '@tanstack/react-query';
import { ApiProblem, problemOf } from './problems.ts';

/** Who is signed in. */
export interface Me {
  readonly name: string;
  /** What the person chose (BCP 47, IANA); undefined where nothing was. */
  readonly locale: string | undefined;
  readonly timeZone: string | undefined;
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

/** Reads `GET /me` of the Management API. */
export function parseMe(body: unknown): Me {
  const { person } = (body ?? {}) as { readonly person?: Readonly<Record<string, unknown>> };
  return {
    name: textOf(person?.['name']) ?? '',
    locale: textOf(person?.['locale']),
    timeZone: textOf(person?.['time_zone']),
  };
}

/** The person of the session. Pages do without where it cannot be had: the language is then the browser's, the zone the device's. */
export const meQuery = queryOptions({
  queryKey: ['management', '/me'] as const,
  queryFn: async ({ signal }): Promise<Me> => {
    const response = await fetch('/management/v1/me', { signal }).catch((cause: unknown) => {
      throw new ApiProblem('', { status: 0, slug: 'no_answer', cause });
    });
    const body: unknown = await response.json().catch(() => undefined);
    if (!response.ok) throw problemOf(response, body);
    return parseMe(body);
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

/** The person, once known. */
export const useMe = (): Me | undefined => useQuery(meQuery).data;
