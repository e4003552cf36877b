import { ChevronDown, Pause, Play, RotateCcw, RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../../messages/messages.ts';
import { lengthText } from '../format.ts';
import { Icon } from '../icon.tsx';
import { Button, buttonClass } from '../button.tsx';
import { Menu } from '../menu.tsx';
import { positionText } from '../waveform/position.ts';
import { backMs, forwardMs } from './player-keys.ts';
import { player, usePlayer } from './use-player.ts';
import styles from './player-bar.module.css';

const rates = [0.75, 1, 1.25, 1.5, 2];
const rateText = (rate: number) => `${rate}×`;

function PlayButton() {
  const isPlaying = usePlayer((state) => state.isPlaying);
  return (
    <button
      type="button"
      className={styles.play}
      aria-label={t(isPlaying ? 'audio.pause' : 'audio.play')}
      onClick={player.toggle}
    >
      <Icon of={isPlaying ? Pause : Play} size={18} />
    </button>
  );
}

function Clock({ durationMs }: { readonly durationMs: number }) {
  const position = usePlayer((state) => positionText(state.positionMs));
  return (
    <span className={styles.clock}>
      <b>{position}</b> {t('audio.of', { length: lengthText(durationMs) })}
    </span>
  );
}

function Rate() {
  const rate = usePlayer((state) => state.rate);
  return (
    <Menu
      name={t('audio.speed')}
      buttonName={t('audio.speed_now', { rate: rateText(rate) })}
      className={buttonClass({ size: 'small' })}
      button={
        <>
          {rateText(rate)}
          <Icon of={ChevronDown} size={13} />
        </>
      }
      entries={rates.map((each) => ({
        name: rateText(each),
        isCurrent: each === rate,
        onChoose: () => player.setRate(each),
      }))}
    />
  );
}

/**
 * The buttons of the player, where it is and how fast it goes.
 * @param place what is heard now, as the chapter
 */
export function PlayerBar({
  durationMs,
  place,
  legend,
}: {
  readonly durationMs: number;
  readonly place?: ReactNode;
  readonly legend?: ReactNode;
}) {
  const hasFailed = usePlayer((state) => state.hasFailed);
  return (
    <div className={styles.bar}>
      <div className={styles.buttons}>
        <Button
          kind="quiet"
          size="small"
          square
          icon={RotateCcw}
          aria-label={t('audio.back')}
          onClick={() => player.skip(backMs)}
        />
        <PlayButton />
        <Button
          kind="quiet"
          size="small"
          square
          icon={RotateCw}
          aria-label={t('audio.forward')}
          onClick={() => player.skip(forwardMs)}
        />
      </div>
      <Clock durationMs={durationMs} />
      {hasFailed ? (
        <span className={styles.failed} role="alert">
          {t('audio.cannot_play')}
        </span>
      ) : (
        place
      )}
      <div className={styles.end}>
        {legend}
        <Rate />
      </div>
    </div>
  );
}
