import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useHasRole } from '../../api/me.ts';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { buttonClass } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { FeedCheckCard } from './feed-check-card.tsx';
import styles from './feed-page.module.css';
import { podcastQuery } from './podcast-queries.ts';
import { RedirectCard } from './redirect-card.tsx';

const route = getRouteApi('/podcasts/$podcastId/feed');

/** Where shows are submitted; each asks for the address of the feed, and mails its owner. */
const directories = [
  ['Apple Podcasts', 'https://podcastsconnect.apple.com/'],
  ['Spotify', 'https://creators.spotify.com/'],
  ['YouTube', 'https://studio.youtube.com/'],
  ['Podcast Index', 'https://podcastindex.org/add'],
] as const;

const AddressCard = ({ podcast }: { readonly podcast: Answer<'/podcasts/{id}'> }) => (
  <Card title={t('feed.address')}>
    <div className={styles.stack}>
      <p className={styles.address}>
        <a href={podcast.feed_url}>{podcast.feed_url}</a>
      </p>
      <p>{t('feed.directories_help')}</p>
      <ul className={styles.directories}>
        {directories.map(([name, address]) => (
          <li key={name}>
            <a href={address} rel="noreferrer">
              {name}
            </a>
          </li>
        ))}
      </ul>
    </div>
  </Card>
);

/** Why there is no feed, by the state of the podcast. */
const whyNone = {
  draft: 'feed.not_published',
  unpublished: 'feed.offline',
  archived: 'feed.archived',
} as const;

const NotPublic = ({ id, state }: { readonly id: string; readonly state: keyof typeof whyNone }) => (
  <Card title={t('feed.check')}>
    <div className={styles.stack}>
      <p>{t(whyNone[state])}</p>
      {state !== 'archived' && (
        <p>
          <Link className={buttonClass()} to="/podcasts/$podcastId/settings" params={{ podcastId: id }}>
            {t('feed.to_settings')}
          </Link>
        </p>
      )}
    </div>
  </Card>
);

/** The feed of a podcast: its address, what directories would find in it, and the way to another host. */
export function FeedPage() {
  const { podcastId } = route.useParams();
  const query = useQuery(podcastQuery(podcastId));
  const mayRedirect = useHasRole('owner');
  return (
    <Loaded query={query} lines={6}>
      {(podcast) =>
        podcast.state === 'published' ? (
          <>
            <AddressCard podcast={podcast} />
            <FeedCheckCard key={`check ${podcastId}`} podcastId={podcastId} />
            {mayRedirect && <RedirectCard key={`redirect ${podcastId}`} podcast={podcast} />}
          </>
        ) : (
          <NotPublic id={podcast.id} state={podcast.state} />
        )
      }
    </Loaded>
  );
}
