import { useEffect, useMemo, type KeyboardEvent } from 'react';
import { t } from '../../../messages/messages.ts';
import { PlayerBar } from '../../../parts/player/player-bar.tsx';
import { playerDeed } from '../../../parts/player/player-keys.ts';
import { player, usePlayer } from '../../../parts/player/use-player.ts';
import { positionText } from '../../../parts/waveform/position.ts';
import { Waveform, type Stretch } from '../../../parts/waveform/waveform.tsx';
import { breakName } from '../audio/break-name.ts';
import { usePeaks, type Heard } from '../audio/use-sound.ts';
import { adName } from './ad-name.ts';
import { blocksOf, chaptersInFile, peaksInFile, type PlayedBreak } from './played.ts';
import type { Preview } from './preview-query.ts';
import styles from './preview.module.css';

/** Gives the file of the preview to the player. Its address ends with it: another play has another one. */
function usePreviewSound({ id, audio_url: url, timeline }: Preview, { title, artist, artworkUrl }: Heard): void {
  const durationMs = timeline.duration_ms;
  useEffect(() => {
    player.take({ ...{ key: id, durationMs, title, artist, artworkUrl }, findUrl: async () => url });
  }, [id, url, durationMs, title, artist, artworkUrl]);
}

/** What is heard at a time, in words. */
function heardAt(ms: number, preview: Preview, breaks: readonly PlayedBreak[], chapters: readonly Stretch[]): string {
  for (const each of breaks)
    for (const [at, ad] of each.ads.entries())
      if (ad.startMs <= ms && ms < ad.startMs + ad.durationMs)
        return t('preview.ad_of', { number: at + 1, ads: each.ads.length, name: adName(ad) });
  const block = blocksOf(preview.timeline).find(({ startMs, endMs }) => startMs <= ms && ms < endMs);
  if (block && block.kind !== 'break') return t(`preview.${block.kind}`);
  return chapters.findLast(({ startMs, endMs }) => startMs <= ms && ms < endMs)?.title ?? '';
}

const Legend = () => (
  <span className={styles.legend}>
    <span>
      <i className={styles.own} />
      {t('preview.own')}
    </span>
    <span>
      <i className={styles.ads} />
      {t('preview.ads')}
    </span>
    <span>
      <i className={styles.joined} />
      {t('preview.joined')}
    </span>
  </span>
);

const nothing = () => undefined;
const deeds = { onMove: nothing, onRemove: nothing, onHear: nothing };

/** The file of the play in time, to scale, and the player. */
export function PreviewSound({
  preview,
  breaks,
  heard,
  chapters,
}: {
  readonly preview: Preview;
  readonly breaks: readonly PlayedBreak[];
  readonly heard: Heard;
  readonly chapters: readonly Stretch[];
}) {
  usePreviewSound(preview, heard);
  const { timeline } = preview;
  const durationMs = timeline.duration_ms;
  const recorded = usePeaks(heard.productionId);
  const peaks = useMemo(() => recorded && peaksInFile(recorded, timeline), [recorded, timeline]);
  const stretches = useMemo(() => chaptersInFile(chapters, timeline), [chapters, timeline]);
  const words = (ms: number) => heardAt(ms, preview, breaks, stretches);
  const now = usePlayer(({ positionMs }) => words(positionMs));
  const spoken = (ms: number) => {
    const what = words(ms);
    return what === '' ? positionText(ms) : `${positionText(ms)}, ${what}`;
  };
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const target = event.target as HTMLElement;
    const deed = playerDeed(event, target.tagName, target.role === 'slider');
    if (deed === 'toggle') player.toggle();
    else if (typeof deed === 'object') player.skip(deed.skipMs);
    else return;
    event.preventDefault();
  };
  const flags = breaks
    .filter(({ ads }) => ads.length > 0)
    .map((each) => ({ key: each.key, name: breakName(each), atMs: each.atMs, isFixed: true }));
  const goTo = (key: string) => player.seek(flags.find((flag) => flag.key === key)?.atMs ?? 0);
  return (
    <div onKeyDown={press}>
      <Waveform
        {...{ peaks, durationMs, flags, spoken }}
        view={{ startMs: 0, lengthMs: durationMs }}
        silences={[]}
        chapters={stretches}
        blocks={blocksOf(timeline)}
        selected={undefined}
        deeds={{ ...deeds, onSelect: goTo }}
      />
      <PlayerBar
        durationMs={durationMs}
        place={now === '' ? null : <span className={styles.now}>{now}</span>}
        legend={<Legend />}
      />
    </div>
  );
}
