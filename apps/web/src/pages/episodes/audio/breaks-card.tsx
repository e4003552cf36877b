import { Ear, Trash2 } from 'lucide-react';
import { classes } from '../../../look/classes.ts';
import { t } from '../../../messages/messages.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { faultText } from '../../../parts/form/fields.tsx';
import { FormFrame } from '../../../parts/form/form-frame.tsx';
import { showToast } from '../../../parts/toast.tsx';
import { revealFlag } from '../../../parts/waveform/flags.tsx';
import { positionText } from '../../../parts/waveform/position.ts';
import { joinOf, type Silences } from '../../../parts/waveform/snap.ts';
import { levelText } from '../../../parts/format.ts';
import { usePlace } from '../../../shell/place.ts';
import { breakLine, breakName } from './break-name.ts';
import { breaksOf, slotsMax, type NamedBreak } from './breaks.ts';
import type { Breaks } from './use-breaks.ts';
import styles from './breaks-card.module.css';

/** Where the delivered file is cut for a break: `Silence, +0.4 s`. */
function joinText(of: NamedBreak, silences: Silences, durationMs: number, language: string): string {
  if (of.kind !== 'mid') return t(of.kind === 'pre' ? 'audio.join_start' : 'audio.join_end');
  const { atMs, isInSilence } = joinOf(of.positionMs, silences, durationMs);
  if (!isInSilence) return t('audio.join_here');
  const awayS = Math.round((atMs - of.positionMs) / 100) / 10;
  if (awayS === 0) return t('audio.join_silence');
  return t('audio.join_near', { away: `${awayS > 0 ? '+' : ''}${levelText(awayS, language)}` });
}

const slotChoices = Array.from({ length: slotsMax }, (_, at) => at + 1);

function Row({ of, breaks, joined }: { readonly of: NamedBreak; readonly breaks: Breaks; readonly joined: string }) {
  const name = breakName(of);
  return (
    <tr className={classes(breaks.selected?.key === of.key && styles.selected)}>
      <th scope="row">
        <button
          type="button"
          className={styles.name}
          onClick={() => {
            breaks.select(of.key);
            revealFlag(of.key);
          }}
        >
          {name}
        </button>
      </th>
      <td className="number">
        {positionText(of.positionMs)}
        <small className={styles.below}>{joined}</small>
      </td>
      <td className={styles.joined}>{joined}</td>
      <td className={styles.end}>
        <select
          aria-label={t('audio.ads_in', { name })}
          className={styles.slots}
          value={of.slots}
          onChange={(event) => breaks.setSlots(of.key, Number(event.target.value))}
        >
          {slotChoices.map((slots) => (
            <option key={slots}>{slots}</option>
          ))}
        </select>
      </td>
      <td className={styles.end}>
        <Button
          kind="quiet"
          size="small"
          square
          icon={Trash2}
          aria-label={t('audio.remove', { name })}
          onClick={() => breaks.remove(of.key)}
        />
      </td>
    </tr>
  );
}

function Rows({
  breaks,
  silences,
  durationMs,
}: {
  readonly breaks: Breaks;
  readonly silences: Silences;
  readonly durationMs: number;
}) {
  const { language } = usePlace();
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">{t('audio.break')}</th>
          <th scope="col">{t('audio.at')}</th>
          <th scope="col" className={styles.joined}>
            {t('audio.joined')}
          </th>
          <th scope="col" className={styles.end}>
            {t('audio.slots')}
          </th>
          <th scope="col">
            <span className="hidden">{t('audio.remove_column')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {breaks.list.map((each) => (
          <Row key={each.key} of={each} breaks={breaks} joined={joinText(each, silences, durationMs, language)} />
        ))}
      </tbody>
    </table>
  );
}

const Keys = () => (
  <span className={styles.keys}>
    {t('audio.nudge')} <kbd>←</kbd> <kbd>→</kbd> {t('audio.nudge_tenth')}, <kbd>Shift</kbd> {t('audio.nudge_second')},{' '}
    {t('audio.nudge_silence')} <kbd>S</kbd>
  </span>
);

/** The breaks of an episode in rows: where each is, where the file is cut, how many ads it takes; and the button that saves them. */
export function BreaksCard({
  breaks,
  silences,
  durationMs,
  onHear,
}: {
  readonly breaks: Breaks;
  readonly silences: Silences;
  readonly durationMs: number;
  /** Undefined: the recording may not be heard. */
  readonly onHear: ((key: string) => void) | undefined;
}) {
  const { form, list, selected } = breaks;
  const fault = faultText(form.faultOf('markers'));
  return (
    <Card title={t('audio.breaks')} basis={t('audio.breaks_basis')}>
      <FormFrame
        form={form}
        inCard
        names={{ markers: 'audio.breaks' }}
        shows={(value) =>
          breaksOf(value as readonly string[])
            .map(breakLine)
            .join('; ')
        }
        saves="audio.save"
        onSaved={() => showToast(t('audio.saved'))}
      >
        {list.length === 0 ? (
          <p className={styles.none}>{t('audio.no_breaks')}</p>
        ) : (
          <div className={styles.frame}>
            <Rows {...{ breaks, silences, durationMs }} />
            {selected && (
              <div className={styles.tools}>
                <b>{breakName(selected)}</b>
                {onHear && (
                  <Button size="small" icon={Ear} onClick={() => onHear(selected.key)}>
                    {t('audio.hear')}
                  </Button>
                )}
                <Keys />
              </div>
            )}
          </div>
        )}
        {fault !== undefined && (
          <p role="alert" className={styles.fault}>
            {fault}
          </p>
        )}
      </FormFrame>
    </Card>
  );
}
