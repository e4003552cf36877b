import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { usageQuery } from '../../api/account.ts';
import { t } from '../../messages/messages.ts';
import cards from '../../parts/card.module.css';
import { Time } from '../../parts/time.tsx';
import { hoursText, numberText } from '../../parts/format.ts';
import { usePlace } from '../../shell/place.ts';
import type { Totals } from './totals.ts';
import styles from './home.module.css';

const Figure = ({
  name,
  value,
  basis,
}: {
  readonly name: string;
  readonly value: ReactNode;
  readonly basis: ReactNode;
}) => (
  <div className={styles.figure}>
    <dt>{name}</dt>
    <dd className={styles.value}>{value ?? '–'}</dd>
    <dd className={styles.basis}>{basis}</dd>
  </div>
);

/** What is left of the plan's encoding time. */
function EncodingTime() {
  const { language } = usePlace();
  const { data } = useQuery(usageQuery);
  if (!data) return <Figure name={t('home.encoding')} value={undefined} basis={' '} />;
  const { encoding_left_ms: left, encoding_limit_ms: limit, period_ends_at: end } = data;
  const hours = (ms: number) => t('hours', { hours: hoursText(ms, language) });
  return (
    <Figure
      name={t('home.encoding')}
      value={left === null ? t('home.encoding_unlimited') : hours(left)}
      basis={
        limit === null ? (
          t('home.encoding_by_plan')
        ) : (
          <>
            {t('home.encoding_of', { limit: hours(limit) })} <Time at={end} />
          </>
        )
      }
    />
  );
}

/** The figures of all podcasts together, each with what it is based on. */
export function Figures({ totals, podcasts }: { readonly totals: Totals | undefined; readonly podcasts: number }) {
  const { language } = usePlace();
  const count = (value: number | undefined) => (value === undefined ? undefined : numberText(value, language));
  return (
    <section className={cards.card} aria-label={t('home.figures')}>
      <dl className={styles.figures}>
        <Figure
          name={t('home.downloads')}
          value={count(totals?.downloads)}
          basis={totals && totals.downloads === undefined ? t('home.downloads_missing') : t('home.downloads_basis')}
        />
        <Figure
          name={t('home.published')}
          value={count(totals?.published)}
          basis={t('home.published_basis', { podcasts })}
        />
        <Figure
          name={t('home.drafts')}
          value={count(totals?.drafts)}
          basis={t('home.drafts_basis', { scheduled: totals?.scheduled ?? 0 })}
        />
        <EncodingTime />
      </dl>
    </section>
  );
}
