import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ExternalLink } from 'lucide-react';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { buttonClass } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { EmbedCard } from './embed-card.tsx';
import { followLinks } from './follow-links.ts';
import { podcastQuery } from './podcast-queries.ts';
import styles from './website-page.module.css';

const route = getRouteApi('/podcasts/$podcastId/website');

type Podcast = Answer<'/podcasts/{id}'>;

const AddressCard = ({ podcast: { site_url: url, link } }: { readonly podcast: Podcast }) => (
  <Card title={t('site.address')}>
    <div className={styles.stack}>
      <p className={styles.address}>
        <a href={url}>{url}</a>
      </p>
      <p>{t('site.address_help')}</p>
      {link === undefined && <p>{t('site.named')}</p>}
      <p className={styles.buttons}>
        <CopyButton name="site.copy_address" text={url} />
        <a className={buttonClass()} href={url} target="_blank" rel="noreferrer">
          <Icon of={ExternalLink} /> {t('site.open')}
        </a>
      </p>
    </div>
  </Card>
);

const FollowCard = ({ podcast }: { readonly podcast: Podcast }) => (
  <Card title={t('site.follow')}>
    <div className={styles.stack}>
      <p>{t('site.follow_help')}</p>
      <ul className={styles.follow}>
        {followLinks(podcast).map(([app, address]) => (
          <li key={app}>
            <a href={address} rel="noreferrer">
              {app}
            </a>
          </li>
        ))}
      </ul>
    </div>
  </Card>
);

const PreviewCard = ({ podcast: { site_url: url, title } }: { readonly podcast: Podcast }) => (
  <Card title={t('site.preview')} plain>
    <iframe className={styles.preview} src={url} title={t('site.preview_of', { title })} />
  </Card>
);

/** Why there are no pages, by the state of the podcast. */
const whyNone = {
  draft: 'site.not_published',
  unpublished: 'site.offline',
  archived: 'site.archived',
} as const;

const NotPublic = ({ podcast: { id }, state }: { readonly podcast: Podcast; readonly state: keyof typeof whyNone }) => (
  <Card title={t('site.address')}>
    <div className={styles.stack}>
      <p>{t(whyNone[state])}</p>
      {state !== 'archived' && (
        <p>
          <Link className={buttonClass()} to="/podcasts/$podcastId/settings" params={{ podcastId: id }}>
            {t('site.to_settings')}
          </Link>
        </p>
      )}
    </div>
  </Card>
);

/** Pages of a podcast that has moved lead away: nothing of them can be framed here or elsewhere. */
const Moved = ({ target }: { readonly target: string }) => (
  <Card title={t('site.address')}>
    <div className={styles.stack}>
      <p>{t('site.moved')}</p>
      <p className={styles.address}>
        <a href={target} rel="noreferrer">
          {target}
        </a>
      </p>
    </div>
  </Card>
);

/** The website of a podcast: its address, how others follow it, the player for pages of one's own, and the page as it is now. */
export function WebsitePage() {
  const { podcastId } = route.useParams();
  const query = useQuery(podcastQuery(podcastId));
  return (
    <Loaded query={query} lines={6}>
      {(podcast) => {
        const { state, new_feed_url: newFeed, link } = podcast;
        if (state !== 'published') return <NotPublic podcast={podcast} state={state} />;
        if (newFeed !== undefined) return <Moved target={link ?? newFeed} />;
        return (
          <>
            <AddressCard podcast={podcast} />
            <FollowCard podcast={podcast} />
            <EmbedCard key={podcastId} podcast={podcast} />
            <PreviewCard podcast={podcast} />
          </>
        );
      }}
    </Loaded>
  );
}
