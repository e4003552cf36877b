import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense } from 'react';
import { withTexts } from '../../messages/load-texts.ts';

/** The player and its texts come with the pages of creatives alone. */
const ListenCard = lazyRouteComponent(
  withTexts('audio', () => import('./listen-card.tsx')),
  'ListenCard',
);

/** How a creative sounds. */
export const CreativeSound = ({ workspace, id }: { readonly workspace: string; readonly id: string }) => (
  <Suspense fallback={null}>
    <ListenCard key={id} workspace={workspace} id={id} />
  </Suspense>
);
