import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { embedCode, embedUrl } from './embed-code.ts';
import { episodesQuery, type EpisodeRow } from './podcast-queries.ts';
import styles from './website-page.module.css';

/** Episodes that have a player: newest first, as the list is. */
const withPlayer = (episodes: readonly EpisodeRow[]) =>
  episodes.filter(({ state, current_production_id: production }) => state === 'published' && production !== undefined);

function Embed({ siteUrl, episodes }: { readonly siteUrl: string; readonly episodes: readonly EpisodeRow[] }) {
  const [chosenId, choose] = useState(episodes[0]?.id);
  const episode = episodes.find(({ id }) => id === chosenId) ?? episodes[0];
  if (!episode) return <p>{t('site.no_episode')}</p>;
  const { id, title } = episode;
  const pageUrl = `${siteUrl}/${id}`;
  const code = embedCode(pageUrl, title);
  return (
    <>
      <Field label={t('site.episode')}>
        {(control) => (
          <select {...control} value={id} onChange={(event) => choose(event.target.value)}>
            {episodes.map((each) => (
              <option key={each.id} value={each.id}>
                {each.title}
              </option>
            ))}
          </select>
        )}
      </Field>
      <iframe className={styles.player} src={embedUrl(pageUrl)} title={t('site.player_of', { title })} />
      <p>
        <a href={pageUrl} target="_blank" rel="noreferrer">
          {t('site.episode_page')}
        </a>
      </p>
      <Field label={t('site.code')}>
        {({ className, ...control }) => (
          <textarea {...control} className={`${className} ${styles.code}`} readOnly rows={3} value={code} />
        )}
      </Field>
      <p>
        <CopyButton name="site.copy_code" text={code} />
      </p>
    </>
  );
}

/** The player of an episode for pages of one's own, as it looks there, with its code. */
export function EmbedCard({ podcast }: { readonly podcast: Answer<'/podcasts/{id}'> }) {
  const query = useQuery(episodesQuery(podcast.id));
  return (
    <Card title={t('site.embed')}>
      <div className={styles.stack}>
        <p>{t('site.embed_help')}</p>
        <Loaded query={query} lines={3}>
          {({ items }) => <Embed siteUrl={podcast.site_url} episodes={withPlayer(items)} />}
        </Loaded>
      </div>
    </Card>
  );
}
