import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemBanner } from './problem.tsx';
import { Skeleton } from './skeleton.tsx';

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
