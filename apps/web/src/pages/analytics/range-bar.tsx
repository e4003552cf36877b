import { CalendarDays } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { rangeText } from '../../parts/chart/calendar.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Segments } from '../../parts/segments.tsx';
import { usePlace } from '../../shell/place.ts';
import {
  comparisons,
  rangeChoices,
  type AnalyticsSearch,
  type Comparison,
  type DayRange,
  type RangeChoice,
} from './analytics-search.ts';
import styles from './analytics.module.css';

const ranges = rangeChoices.map((value) => ({ value, name: `analytics.range_${value}` as const }));

/** Asks for the first and the last day. */
function DaysDialog({
  days,
  today,
  onClose,
  onChoose,
}: {
  readonly days: DayRange;
  readonly today: string;
  readonly onClose: () => void;
  readonly onChoose: (days: DayRange) => void;
}) {
  const [from, setFrom] = useState(days.from);
  const [to, setTo] = useState(days.to);
  const isRange = from !== '' && to !== '' && from <= to;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t('analytics.days')}
      actions={
        <>
          <Button kind="quiet" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button kind="primary" busy={!isRange} onClick={() => onChoose({ from, to })}>
            {t('analytics.days_show')}
          </Button>
        </>
      }
    >
      <div className={styles.days}>
        <Field label={t('analytics.days_from')}>
          {(control) => (
            <input
              {...control}
              type="date"
              max={today}
              value={from}
              onChange={(event) => setFrom(event.target.value)}
            />
          )}
        </Field>
        <Field
          label={t('analytics.days_to')}
          {...(!isRange && from !== '' && to !== '' && { error: t('analytics.days_order') })}
        >
          {(control) => (
            <input {...control} type="date" max={today} value={to} onChange={(event) => setTo(event.target.value)} />
          )}
        </Field>
      </div>
    </Dialog>
  );
}

/** Which days are shown. */
export function RangeBar({
  search,
  days,
  today,
  end,
  children,
  onChange,
}: {
  readonly search: AnalyticsSearch;
  readonly days: DayRange;
  readonly today: string;
  /** What the numbers are based on. */
  readonly end?: ReactNode;
  readonly children?: ReactNode;
  readonly onChange: (change: AnalyticsSearch) => void;
}) {
  const { language } = usePlace();
  const [isOpen, setOpen] = useState(false);
  const hasDays = search.from !== undefined;
  return (
    <div className={styles.bar}>
      <Segments<RangeChoice | 'days'>
        name={t('analytics.range')}
        value={hasDays ? 'days' : (search.range ?? '30d')}
        choices={ranges}
        onChange={(range) => range !== 'days' && onChange({ range })}
      />
      <Button size="small" icon={CalendarDays} onClick={() => setOpen(true)}>
        {search.range === 'all' ? t('analytics.days') : rangeText(days.from, days.to, language)}
      </Button>
      {children}
      {end !== undefined && <span className={styles.basis}>{end}</span>}
      {isOpen && (
        <DaysDialog
          days={search.range === 'all' ? { from: '', to: today } : days}
          today={today}
          onClose={() => setOpen(false)}
          onChoose={(chosen) => {
            setOpen(false);
            onChange({ ...chosen });
          }}
        />
      )}
    </div>
  );
}

/** A choice of several, of which the names are too long to stand beside each other. */
export const Choice = ({
  name,
  value,
  choices,
  onChange,
}: {
  readonly name: string;
  readonly value: string;
  readonly choices: readonly (readonly [value: string, name: string])[];
  readonly onChange: (value: string) => void;
}) => (
  <select className={styles.choice} aria-label={name} value={value} onChange={(event) => onChange(event.target.value)}>
    {choices.map(([each, text]) => (
      <option key={each} value={each}>
        {text}
      </option>
    ))}
  </select>
);

/** What a range is compared with. */
export const CompareChoice = ({
  search,
  onChange,
}: {
  readonly search: AnalyticsSearch;
  readonly onChange: (change: AnalyticsSearch) => void;
}) => (
  <Choice
    name={t('analytics.compare')}
    value={search.compare ?? 'before'}
    choices={comparisons.map((each) => [each, t(`analytics.compare_${each}`)])}
    onChange={(compare) => onChange({ compare: compare as Comparison })}
  />
);
