import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../../../messages/messages.ts';
import { buttonClass } from '../../../parts/button.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { Menu } from '../../../parts/menu.tsx';
import { player, usePlayer } from '../../../parts/player/use-player.ts';
import { addFlagId } from '../../../parts/waveform/flags.tsx';
import { positionText } from '../../../parts/waveform/position.ts';
import type { Silences } from '../../../parts/waveform/snap.ts';
import type { Stretch } from '../../../parts/waveform/waveform.tsx';
import { breakName } from './break-name.ts';
import { placeFor } from './breaks.ts';
import { SoundCard } from './sound-card.tsx';
import type { Breaks } from './use-breaks.ts';
import type { Heard } from './use-sound.ts';
import styles from './audio-card.module.css';

function AddBreak({ breaks, durationMs }: { readonly breaks: Breaks; readonly durationMs: number }) {
  const placeMs = usePlayer(({ positionMs }) => placeFor(breaks.list, Math.round(positionMs / 100) * 100, durationMs));
  const has = (kind: string) => breaks.list.some((each) => each.kind === kind);
  return (
    <Menu
      buttonId={addFlagId}
      name={t('audio.add')}
      className={buttonClass({ size: 'small' })}
      button={
        <>
          <Icon of={Plus} size={14} />
          {t('audio.add')}
        </>
      }
      entries={[
        { name: t('audio.add_mid', { position: positionText(placeMs) }), onChoose: () => breaks.add('mid', placeMs) },
        ...(has('pre') ? [] : [{ name: t('audio.add_pre'), onChoose: () => breaks.add('pre', 0) }]),
        ...(has('post') ? [] : [{ name: t('audio.add_post'), onChoose: () => breaks.add('post', durationMs) }]),
      ]}
    />
  );
}

const Legend = () => (
  <span className={styles.legend}>
    <span>
      <i className={styles.break} />
      {t('audio.break')}
    </span>
    <span>
      <i className={styles.silence} />
      {t('audio.silence')}
    </span>
  </span>
);

/** The recording of an episode: to hear it, and to set its breaks on it. */
export function AudioCard({
  heard,
  silences,
  chapters,
  breaks,
  start,
  onHear,
}: {
  readonly heard: Heard;
  readonly silences: Silences;
  readonly chapters: readonly Stretch[];
  readonly breaks: Breaks;
  /** Before the tools of the card. */
  readonly start?: ReactNode;
  readonly onHear: (key: string) => void;
}) {
  const flags = breaks.list.map((each) => ({
    key: each.key,
    name: breakName(each),
    atMs: each.positionMs,
    isFixed: each.kind !== 'mid',
  }));
  const deeds = { onSelect: breaks.select, onMove: breaks.move, onRemove: breaks.remove, onHear };
  const press = (key: string) => {
    if (key !== 'b') return false;
    breaks.add('mid', player.state().positionMs);
    return true;
  };
  return (
    <SoundCard
      {...{ heard, silences, chapters, start }}
      on={{ flags, selected: breaks.selected?.key, deeds }}
      end={<AddBreak breaks={breaks} durationMs={heard.durationMs} />}
      legend={<Legend />}
      onKey={press}
    />
  );
}
