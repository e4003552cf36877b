import { ZoomIn, ZoomOut } from 'lucide-react';
import { useEffect, useState, type KeyboardEvent, type ReactNode } from 'react';
import { t } from '../../../messages/messages.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { PlayerBar } from '../../../parts/player/player-bar.tsx';
import { playerDeed } from '../../../parts/player/player-keys.ts';
import { player, usePlayer } from '../../../parts/player/use-player.ts';
import type { Flag, FlagDeeds } from '../../../parts/waveform/flags.tsx';
import { positionText } from '../../../parts/waveform/position.ts';
import { revealing, zoomed, type View } from '../../../parts/waveform/scale.ts';
import type { Silences } from '../../../parts/waveform/snap.ts';
import { Waveform, type Stretch } from '../../../parts/waveform/waveform.tsx';
import { useMayHear, usePeaks, useSound, type Heard } from './use-sound.ts';
import styles from './audio-card.module.css';

/** What is shown of the recording: it follows where it plays. */
function useView(durationMs: number) {
  const [view, setView] = useState<View>({ startMs: 0, lengthMs: durationMs });
  useEffect(
    () => player.subscribe(() => setView((former) => revealing(former, durationMs, player.state().positionMs))),
    [durationMs],
  );
  return {
    view,
    reveal: (ms: number) => setView((former) => revealing(former, durationMs, ms)),
    zoom: (factor: number, aroundMs: number) => setView((former) => zoomed(former, durationMs, factor, aroundMs)),
  };
}

const chapterAt = (chapters: readonly Stretch[], ms: number) =>
  chapters.findLast(({ startMs, endMs }) => startMs <= ms && ms < endMs)?.title;

function Place({ chapters }: { readonly chapters: readonly Stretch[] }) {
  const chapter = usePlayer(({ positionMs }) => chapterAt(chapters, positionMs) ?? '');
  return chapter === '' ? null : <span className={`voice ${styles.place}`}>{chapter}</span>;
}

/** Flags of a card, and what can be done with them. */
export interface CardFlags {
  readonly flags: readonly Flag[];
  readonly selected: string | undefined;
  readonly deeds: FlagDeeds;
}

const nothing = () => undefined;
const noFlags: CardFlags = {
  flags: [],
  selected: undefined,
  deeds: { onSelect: nothing, onMove: nothing, onRemove: nothing, onHear: nothing },
};

/**
 * The recording of an episode on its waveform, to be heard by those who may.
 * @param onKey what a key does beside those of the player; answers whether it does something
 */
export function SoundCard({
  heard,
  silences,
  chapters,
  on: { flags, selected, deeds } = noFlags,
  start,
  end,
  legend,
  onKey,
}: {
  readonly heard: Heard;
  readonly silences: Silences;
  readonly chapters: readonly Stretch[];
  readonly on?: CardFlags;
  readonly start?: ReactNode;
  readonly end?: ReactNode;
  readonly legend?: ReactNode;
  readonly onKey?: (key: string) => boolean;
}) {
  const { productionId, durationMs } = heard;
  useSound(heard);
  const mayHear = useMayHear(productionId);
  const peaks = usePeaks(productionId);
  const { view, reveal, zoom } = useView(durationMs);
  const spoken = (ms: number) => {
    const [position, chapter] = [positionText(ms), chapterAt(chapters, ms)];
    return chapter === undefined ? position : t('audio.in_chapter', { position, chapter });
  };
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const target = event.target as HTMLElement;
    const deed = playerDeed(event, target.tagName, target.role === 'slider');
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (deed === 'toggle' && mayHear) player.toggle();
    else if (typeof deed === 'object') player.skip(deed.skipMs);
    else if (!isPlain || onKey?.(event.key.toLowerCase()) !== true) return;
    event.preventDefault();
  };
  const move = (key: string, toMs: number) => {
    deeds.onMove(key, toMs);
    reveal(toMs);
  };
  const aroundMs = () => flags.find(({ key }) => key === selected)?.atMs ?? player.state().positionMs;
  const zoomButton = (icon: typeof ZoomIn, name: 'audio.zoom_in' | 'audio.zoom_out', factor: number) => (
    <Button
      kind="quiet"
      size="small"
      square
      icon={icon}
      aria-label={t(name)}
      busy={factor < 1 && view.lengthMs >= durationMs}
      onClick={() => zoom(factor, aroundMs())}
    />
  );
  return (
    <div onKeyDown={press}>
      <Card
        plain
        title={t('audio.title')}
        basis={t('audio.basis')}
        end={
          <>
            {start}
            {zoomButton(ZoomOut, 'audio.zoom_out', 0.5)}
            {zoomButton(ZoomIn, 'audio.zoom_in', 2)}
            {end}
          </>
        }
      >
        <Waveform
          {...{ peaks, durationMs, view, silences, chapters, spoken, flags, selected }}
          deeds={{ ...deeds, onMove: move }}
        />
        {mayHear ? (
          <PlayerBar durationMs={durationMs} place={<Place chapters={chapters} />} legend={legend} />
        ) : (
          <div className={styles.unheard}>
            <p>{t('audio.not_heard')}</p>
            {legend}
          </div>
        )}
      </Card>
    </div>
  );
}
