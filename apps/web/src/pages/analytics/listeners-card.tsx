import { useQuery } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { axisText, bucketText, isUnfinished } from '../../parts/chart/calendar.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { usePlace } from '../../shell/place.ts';
import { listenersQuery } from './analytics-queries.ts';
import { HistoryWall } from './downloads-card.tsx';
import { wallOf } from './series-data.ts';

/** Listeners by month of UTC: a listener of two months is one of each, so that they are never added up. */
export function ListenersCard({ podcastId, title }: { readonly podcastId: string; readonly title: string }) {
  const { language } = usePlace();
  const utc = { zone: 'UTC', language };
  const query = useQuery(listenersQuery(podcastId));
  return (
    <Card title={t('analytics.listeners_months')} basis={t('analytics.listeners_months_basis')} plain>
      <Loaded query={query} lines={8}>
        {({ meta, objects }) => (
          <>
            <HistoryWall meta={meta} />
            <Chart
              name={t('analytics.listeners_chart', { title })}
              shape="bars"
              file="listeners"
              zone="UTC"
              data={{
                series: [{ name: t('analytics.listeners_name'), look: 'own' }],
                wall: wallOf(meta),
                points: objects.map(({ date, listeners }) => ({
                  key: date,
                  title: bucketText(date, 'month', utc),
                  short: axisText(date, 'month', utc),
                  values: [listeners],
                  isUnfinished: isUnfinished(date, 'month', meta.complete_until, 'UTC'),
                })),
              }}
            />
          </>
        )}
      </Loaded>
    </Card>
  );
}
