import { ChartNoAxesColumn, EyeOff } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Answer } from '../../api/queries.ts';
import { Empty } from '../../parts/empty.tsx';

/** Numbers of a podcast or of its episode; where there are none, why, and what would be here. Nothing that would be refused is asked. */
export function NoNumbers({
  of: { analytics, state },
  episodeState,
  children,
}: {
  readonly of: Pick<Answer<'/podcasts/{id}'>, 'analytics' | 'state'>;
  readonly episodeState?: string;
  readonly children: ReactNode;
}) {
  if (analytics === 'not_permitted')
    return <Empty icon={EyeOff} title="analytics.not_permitted" why="analytics.not_permitted_why" />;
  if (analytics === 'not_in_plan')
    return <Empty icon={ChartNoAxesColumn} title="analytics.not_in_plan" why="analytics.not_in_plan_why" />;
  if (state !== 'published')
    return <Empty icon={ChartNoAxesColumn} title="analytics.not_published" why="analytics.not_published_why" />;
  if (episodeState !== undefined && episodeState !== 'published')
    return <Empty icon={ChartNoAxesColumn} title="analytics.episode_not_published" why="analytics.not_published_why" />;
  return children;
}
