import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemBanner } from './problem.tsx';
import { Skeleton } from './skeleton.tsx';

/** One banner for those of several queries that failed and have nothing to show; trying again asks each of them. */
export function Failed({ queries }: { readonly queries: readonly UseQueryResult<unknown>[] }) {
  const failed = queries.filter(({ data, isError }) => isError && data === undefined);
  const [first] = failed;
  if (!first) return null;
  const retry = () => {
    for (const { refetch } of failed) void refetch();
  };
  return <ProblemBanner error={first.error} onRetry={retry} />;
}

/** What a query answered; until then lines in its place, and a banner when it failed. What was there before stays while it is asked anew. */
export function Loaded<T>({
  query,
  lines,
  children,
}: {
  readonly query: UseQueryResult<T>;
  readonly lines?: number;
  readonly children: (data: T) => ReactNode;
}) {
  const { data, error, refetch } = query;
  if (data !== undefined) return children(data);
  if (error) return <ProblemBanner error={error} onRetry={() => void refetch()} />;
  return <Skeleton {...(lines !== undefined && { lines })} />;
}
