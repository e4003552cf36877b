import { ChartNoAxesColumn, EyeOff } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Answer } from '../../api/queries.ts';
import { Empty } from '../../parts/empty.tsx';
import { whyNoNumbers } from './why-no-numbers.ts';

/** Numbers of a podcast or of its episode; where there are none, why, and what would be here. Nothing that would be refused is asked. */
export function NoNumbers({
  of,
  episodeState,
  children,
}: {
  readonly of: Pick<Answer<'/podcasts/{id}'>, 'analytics' | 'state'>;
  readonly episodeState?: Answer<'/episodes/{id}'>['state'];
  readonly children: ReactNode;
}) {
  const none = whyNoNumbers(of, episodeState);
  if (!none) return children;
  return <Empty icon={of.analytics === 'not_permitted' ? EyeOff : ChartNoAxesColumn} {...none} />;
}
