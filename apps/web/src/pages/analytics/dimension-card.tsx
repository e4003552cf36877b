import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { numberText, shareText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { usePlace } from '../../shell/place.ts';
import { dimensionQuery, type Dimension, type NumbersOf } from './analytics-queries.ts';
import type { DayRange } from './analytics-search.ts';
import { keyName } from './key-name.ts';
import styles from './analytics.module.css';

const shownAtFirst = 6;

/** Downloads of a range by one dimension, most downloaded first. */
function DimensionCard({
  of,
  days,
  dimension,
}: {
  readonly of: NumbersOf;
  readonly days: DayRange;
  readonly dimension: Dimension;
}) {
  const { language } = usePlace();
  const [isWhole, setWhole] = useState(false);
  const query = useQuery(dimensionQuery(of, days, dimension));
  const rows = query.data?.objects ?? [];
  const title = t(`analytics.${dimension}`);
  const more = rows.length > shownAtFirst && (
    <Button kind="quiet" size="small" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
      {isWhole ? t('analytics.fewer') : t('analytics.all_of', { rows: rows.length })}
    </Button>
  );
  return (
    <Card title={title} basis={t('analytics.days_of_utc')} end={more || undefined} plain>
      <Loaded query={query} lines={6}>
        {({ objects }) =>
          objects.length === 0 ? (
            <p className={styles.nothing}>{t('analytics.nothing')}</p>
          ) : (
            <table className={styles.shares}>
              <caption className="hidden">{title}</caption>
              <thead className="hidden">
                <tr>
                  <th scope="col">{title}</th>
                  <th scope="col">{t('analytics.downloads')}</th>
                  <th scope="col">{t('analytics.share')}</th>
                </tr>
              </thead>
              <tbody>
                {objects.slice(0, isWhole ? undefined : shownAtFirst).map(({ key, downloads, share }) => (
                  <tr key={key}>
                    <th scope="row">{keyName(key, dimension, language) ?? t('analytics.unknown')}</th>
                    <td>
                      <span className={styles.track} aria-hidden>
                        <span
                          style={{ width: `${(100 * share) / Math.max(objects[0]?.share ?? 1, Number.MIN_VALUE)}%` }}
                        />
                      </span>
                      {numberText(downloads, language)}
                    </td>
                    <td className={styles.share}>{shareText(share, language)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </Card>
  );
}

/** Where and with what a range was downloaded. */
export const DimensionCards = ({ of, days }: { readonly of: NumbersOf; readonly days: DayRange }) => (
  <div className={styles.dimensions}>
    <DimensionCard of={of} days={days} dimension="country" />
    <DimensionCard of={of} days={days} dimension="app" />
    <DimensionCard of={of} days={days} dimension="device" />
  </div>
);
