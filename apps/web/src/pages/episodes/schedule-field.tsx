import { useState } from 'react';
import { useSend } from '../../api/send.ts';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { fieldsOf, instantIn, offsetText } from '../../parts/form/zone-time.ts';
import { zoneName } from '../../parts/format.ts';
import { ProblemBanner } from '../../parts/problem.tsx';
import { showToast } from '../../parts/toast.tsx';
import { usePlace } from '../../shell/place.ts';
import styles from './episode-details-page.module.css';

type Episode = Answer<'/episodes/{id}'>;

/** Which of the two times a fold names. */
function FoldChoice({
  instants,
  at,
  onChoose,
}: {
  readonly instants: readonly string[];
  readonly at: string | undefined;
  readonly onChoose: (instant: string) => void;
}) {
  const { zone } = usePlace();
  return (
    <fieldset className={styles.fold}>
      <legend>{t('schedule.twice')}</legend>
      {instants.map((instant, place) => (
        <label key={instant}>
          <input type="radio" name="fold" checked={at === instant} onChange={() => onChoose(instant)} />
          {t(place === 0 ? 'schedule.before' : 'schedule.after', { offset: offsetText(instant, zone) })}
        </label>
      ))}
    </fieldset>
  );
}

/** When an episode is to be published: a day and a time of the page's zone. A time that clocks leave out is refused, one that they show twice is asked. */
export function ScheduleField({ episode }: { readonly episode: Episode }) {
  const { zone } = usePlace();
  const planned = episode.publish_at === undefined ? { day: '', time: '' } : fieldsOf(episode.publish_at, zone);
  const [day, setDay] = useState(planned.day);
  const [time, setTime] = useState(planned.time);
  const [chosen, setChosen] = useState<string>();
  const [isAsked, setAsked] = useState(false);
  const { mutate, isPending, error } = useSend('post', '/episodes/{id}/schedule', () => showToast(t('schedule.done')));
  const found = instantIn(day, time, zone);
  const instants = found.kind === 'fold' ? [found.first, found.second] : [];
  const at = found.kind === 'one' ? found.at : instants.find((instant) => instant === chosen);
  const isPast = at !== undefined && Date.parse(at) <= Date.now();
  const fault = () => {
    if (found.kind === 'gap') return t('schedule.gap');
    if (found.kind === 'none') return isAsked ? t('schedule.needed') : undefined;
    if (at === undefined) return isAsked ? t('schedule.choose') : undefined;
    return isPast ? t('schedule.past') : undefined;
  };
  const schedule = () => {
    setAsked(true);
    if (at === undefined || isPast) return;
    mutate({ path: { id: episode.id }, body: { publish_at: at } });
  };
  return (
    <div className={styles.schedule}>
      <Field label={t('schedule.day')}>
        {(control) => <input {...control} type="date" value={day} onChange={(event) => setDay(event.target.value)} />}
      </Field>
      <Field label={t('schedule.time')} hint={t('zone_time', { zone: zoneName(zone) })} error={fault()}>
        {(control) => <input {...control} type="time" value={time} onChange={(event) => setTime(event.target.value)} />}
      </Field>
      {found.kind === 'fold' && <FoldChoice instants={instants} at={at} onChoose={setChosen} />}
      <div className={styles.go}>
        <Button busy={isPending} onClick={schedule}>
          {t(episode.state === 'scheduled' ? 'schedule.change' : 'schedule.set')}
        </Button>
      </div>
      {error !== null && <ProblemBanner error={error} />}
    </div>
  );
}
