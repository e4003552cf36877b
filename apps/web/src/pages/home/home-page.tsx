import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Mic } from 'lucide-react';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Card, Cards } from '../../parts/card.tsx';
import { Artwork } from '../../parts/artwork.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { changeText, numberText } from '../../parts/format.ts';
import { usePlace } from '../../shell/place.ts';
import { isCounted, overviewQuery, podcastsQuery, type PodcastRow } from '../podcasts/podcast-queries.ts';
import { attentionOf } from './attention.ts';
import { Figures } from './figures.tsx';
import { totalsOf } from './totals.ts';
import { FirstSteps } from '../podcasts/first-steps.tsx';
import styles from './home.module.css';

type Overview = Answer<'/podcasts/{id}/overview'>;
/** Podcasts whose numbers stand on this page; the others are on theirs. */
const shownMax = 12;

function Downloads({ overview }: { readonly overview: Overview | undefined }) {
  const { language } = usePlace();
  const downloads = overview?.downloads;
  if (!downloads) return null;
  const { change } = downloads;
  return (
    <span className={styles.number}>
      {numberText(downloads.last_7_days, language)}
      {change !== null && (
        <small className={change < 0 ? styles.down : styles.up}>{changeText(change, language)}</small>
      )}
    </span>
  );
}

const Podcast = ({ row, overview }: { readonly row: PodcastRow; readonly overview: Overview | undefined }) => (
  <li>
    <Artwork of={row.artwork} title={row.title} size="small" />
    <div className={styles.what}>
      <Link className="voice" to="/podcasts/$podcastId" params={{ podcastId: row.id }}>
        {row.title}
      </Link>
      <p>
        {overview?.episodes.latest ? (
          <>
            {overview.episodes.latest.title}, <Time at={overview.episodes.latest.published_at} />
          </>
        ) : (
          t('home.no_episode')
        )}
      </p>
    </div>
    <Downloads overview={overview} />
  </li>
);

/** What has failed, each with the way to its podcast. */
function NeedsYou({ rows }: { readonly rows: readonly PodcastRow[] }) {
  const all = attentionOf(rows);
  return (
    <Card title={t('home.needs_you')} plain>
      {all.length === 0 && <p className={styles.calm}>{t('home.needs_nothing')}</p>}
      <ul className={styles.rows}>
        {all.map(({ podcastId, podcastTitle, kind, detail }) => (
          <li key={`${podcastId} ${kind}`}>
            <div className={styles.what}>
              <Link to="/podcasts/$podcastId" params={{ podcastId }}>
                {t(`home.failed_${kind}`)}
              </Link>
              <p>
                <span className="voice">{podcastTitle}</span>
                {detail !== undefined && <span lang="en">: {detail}</span>}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Overviews({ rows }: { readonly rows: readonly PodcastRow[] }) {
  const shown = rows.slice(0, shownMax);
  const counted = shown.filter(isCounted);
  const overviews = useQueries({ queries: counted.map(({ id }) => overviewQuery(id)) });
  const known = overviews.flatMap(({ data }) => data ?? []);
  const totals = known.length > 0 && known.length === counted.length ? totalsOf(known) : undefined;
  return (
    <>
      <Figures totals={totals} podcasts={counted.length} />
      <Cards>
        <Card title={t('home.podcasts')} basis={t('home.podcasts_basis')} plain>
          <ul className={styles.rows}>
            {shown.map((row) => (
              <Podcast key={row.id} row={row} overview={overviews[counted.indexOf(row)]?.data} />
            ))}
          </ul>
        </Card>
        <NeedsYou rows={rows} />
      </Cards>
    </>
  );
}

/** What needs a person, and how the podcasts do. */
export function HomePage() {
  const query = useQuery(podcastsQuery);
  return (
    <Page title={t('nav.home')}>
      <Loaded query={query} lines={8}>
        {({ items }) =>
          items.length > 0 ? (
            <Overviews rows={items} />
          ) : (
            <Empty icon={Mic} title="podcasts.none" why="podcasts.none_why" next={<FirstSteps />} />
          )
        }
      </Loaded>
    </Page>
  );
}
