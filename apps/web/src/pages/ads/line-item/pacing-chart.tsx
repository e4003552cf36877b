import { fieldName } from '../../../commands/words.ts';
import { t } from '../../../messages/messages.ts';
import { axisText, dayIn } from '../../../parts/chart/calendar.ts';
import { Chart } from '../../../parts/chart/chart.tsx';
import { instantText, numberText } from '../../../parts/format.ts';
import { usePlace } from '../../../shell/place.ts';
import { totalsByHour, type Hour } from './funnel.ts';

/** Committed against the plan, by the hour, both in total, below the goal. */
export function PacingChart({
  lineItemId,
  hours,
  goal,
}: {
  readonly lineItemId: string;
  readonly hours: readonly Hour[];
  readonly goal: number;
}) {
  const place = usePlace();
  const totals = totalsByHour(hours);
  const last = totals.at(-1);
  if (!last || totals.length < 2) return <p>{t('ads.no_delivery')}</p>;
  const points = totals.map(({ hour, committed, target }) => ({
    ...{ key: hour, title: instantText(hour, 'moment', place) },
    short: axisText(dayIn(place.zone, new Date(hour)), 'day', place),
    values: [committed, Math.round(target), goal],
  }));
  const say = (value: number) => numberText(Math.round(value), place.language);
  const words = { committed: say(last.committed), goal: say(goal), target: say(last.target) };
  const series = [
    { name: t('ads.committed'), look: 'ads' },
    { name: t('ads.plan'), look: 'plan' },
    { name: fieldName('goal'), look: 'goal' },
  ] as const;
  return (
    <Chart
      name={t('ads.pacing_name', words)}
      data={{ series, points }}
      shape="line"
      file={`pacing-${lineItemId}`}
      zone={place.zone}
    />
  );
}
