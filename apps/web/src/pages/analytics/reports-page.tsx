import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CalendarDays, ChartNoAxesColumn, Printer } from 'lucide-react';
import { get } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Empty } from '../../parts/empty.tsx';
import { numberText, shareText } from '../../parts/format.ts';
import { Failed, Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../shell/place.ts';
import { podcastsQuery } from '../podcasts/podcast-queries.ts';
import { HistoryWall } from './downloads-card.tsx';
import { Change } from './figures.tsx';
import { keyName } from './key-name.ts';
import { byMonth, monthName, type Month, type MonthReport } from './month-reports.ts';
import styles from './reports.module.css';

const latestQuery = get('/analytics/reports', {});
const olderQuery = get('/analytics/reports_archives', {});

/** Episodes and countries that a report names. */
const shownTop = 3;

/** @param hasTop whether the month says where its downloads come from */
function Row({ report, hasTop }: { readonly report: MonthReport; readonly hasTop: boolean }) {
  const { language } = usePlace();
  const { podcast_id: podcastId, title, downloads, listeners, change } = report;
  return (
    <tr>
      <th scope="row">
        <Link className="voice" to="/podcasts/$podcastId/analytics" params={{ podcastId }}>
          {title}
        </Link>
      </th>
      <td className="number" data-name={t('analytics.downloads')}>
        {numberText(downloads, language)} {change !== null && <Change of={change} />}
      </td>
      <td className="number" data-name={t('analytics.month_listeners')}>
        {numberText(listeners, language)}
      </td>
      {hasTop && (
        <>
          <td data-name={t('analytics.top_episodes')}>
            <ol className={styles.top}>
              {report.top_episodes?.slice(0, shownTop).map((one) => (
                <li key={one.episode_id}>
                  <span>{one.title ?? one.episode_id}</span>
                  <span className="number">{numberText(one.downloads, language)}</span>
                </li>
              ))}
            </ol>
          </td>
          <td data-name={t('analytics.top_countries')}>
            <ol className={styles.top}>
              {report.top_countries?.slice(0, shownTop).map(({ key, share }) => (
                <li key={key}>
                  <span>{keyName(key, 'country', language) ?? t('analytics.unknown')}</span>
                  <span className="number">{shareText(share, language)}</span>
                </li>
              ))}
            </ol>
          </td>
        </>
      )}
    </tr>
  );
}

function MonthCard({ month: { month, reports } }: { readonly month: Month }) {
  const { language } = usePlace();
  const name = monthName(month, language);
  const hasTop = reports.some(({ top_episodes: top }) => top !== undefined);
  return (
    <Card title={name} basis={t('analytics.month_basis')} plain>
      <div className={styles.scroll}>
        <table className={styles.reports} aria-label={name}>
          <thead>
            <tr>
              <th scope="col">{t('podcasts.podcast')}</th>
              <th scope="col">{t('analytics.downloads')}</th>
              <th scope="col">{t('analytics.month_listeners')}</th>
              {hasTop && (
                <>
                  <th scope="col">{t('analytics.top_episodes')}</th>
                  <th scope="col">{t('analytics.top_countries')}</th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {reports.map((report) => (
              <Row key={report.podcast_id} report={report} hasTop={hasTop} />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Months() {
  const latest = useQuery(latestQuery);
  const older = useQuery(olderQuery);
  return (
    <Loaded query={latest} lines={8}>
      {({ objects }) => {
        const months = byMonth([...objects, ...(older.data?.objects ?? [])]);
        if (months.length === 0)
          return <Empty icon={CalendarDays} title="analytics.no_month" why="analytics.no_month_why" />;
        return (
          <>
            {months.map((month) => (
              <MonthCard key={month.month} month={month} />
            ))}
            <Failed queries={[older]} />
            {older.data && <HistoryWall meta={older.data.meta} />}
          </>
        );
      }}
    </Loaded>
  );
}

/** What each finished month was, podcast by podcast, as far back as the plan includes. */
export function ReportsPage() {
  const query = useQuery(podcastsQuery);
  return (
    <Page
      title={t('analytics.reports')}
      crumbs={[<Link to="/analytics">{t('nav.analytics')}</Link>]}
      actions={
        <Button icon={Printer} onClick={() => print()}>
          {t('analytics.print')}
        </Button>
      }
    >
      <Loaded query={query} lines={8}>
        {({ items }) =>
          items.some(({ analytics }) => analytics === 'available') ? (
            <Months />
          ) : (
            <Empty icon={ChartNoAxesColumn} title="analytics.no_podcast" why="analytics.not_published_why" />
          )
        }
      </Loaded>
    </Page>
  );
}
