import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ListPlus, LocateFixed, Play, Trash2 } from 'lucide-react';
import { useId } from 'react';
import { withVersion, type Answer, type Versioned } from '../../../api/queries.ts';
import { useSend } from '../../../api/send.ts';
import { t } from '../../../messages/messages.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { FormFrame } from '../../../parts/form/form-frame.tsx';
import { focusAfterRemoval } from '../../../parts/form/row-focus.ts';
import { useForm } from '../../../parts/form/use-form.ts';
import { Loaded } from '../../../parts/loaded.tsx';
import { player } from '../../../parts/player/use-player.ts';
import { showToast } from '../../../parts/toast.tsx';
import { parsePosition, positionText } from '../../../parts/waveform/position.ts';
import type { Stretch } from '../../../parts/waveform/waveform.tsx';
import { episodeQuery } from '../episode-queries.ts';
import { chaptersQuery, waveformQuery } from './audio-queries.ts';
import { chaptersOf, rowFault, rowOf, rowText, stretchesOfRows, textsOfChapters, type ChapterRow } from './chapters.ts';
import { SoundCard } from './sound-card.tsx';
import { useHeard, type Heard } from './use-sound.ts';
import styles from './chapters-page.module.css';

type Chapters = Answer<'/episodes/{id}/chapters'>;
/** Where the length of the recording is not known, any time may be one of it. */
const anyLengthMs = 2 ** 40;

const route = getRouteApi('/episodes/$episodeId');

const fields = ['start', 'title', 'url'] as const;

function Row({
  row,
  number,
  fault,
  onChange,
  onRemove,
}: {
  readonly row: ChapterRow;
  readonly number: number;
  readonly fault: string | undefined;
  readonly onChange: (row: ChapterRow) => void;
  readonly onRemove: () => void;
}) {
  const id = useId();
  const startMs = parsePosition(row.start);
  const act = (
    icon: typeof Play,
    name: 'audio.chapter_play' | 'audio.chapter_here' | 'audio.chapter_remove',
    deed: () => void,
  ) => (
    <Button
      kind="quiet"
      size="small"
      square
      icon={icon}
      aria-label={t(name, { number })}
      title={t(name, { number })}
      onClick={deed}
    />
  );
  return (
    <li className={styles.row} data-row>
      {fields.map((name) => (
        <input
          key={name}
          className={name === 'title' ? `voice ${styles.title}` : styles[name]}
          aria-label={t(`audio.chapter_field_${name}`, { number })}
          aria-describedby={fault === undefined ? undefined : id}
          aria-invalid={fault === undefined ? undefined : true}
          placeholder={name === 'url' ? t('audio.chapter_link') : undefined}
          maxLength={name === 'title' ? 255 : 2000}
          autoComplete="off"
          value={row[name]}
          onChange={(event) => onChange({ ...row, [name]: event.target.value })}
        />
      ))}
      <span className={styles.acts}>
        {act(Play, 'audio.chapter_play', () => {
          player.seek(startMs ?? 0);
          player.play();
        })}
        {act(LocateFixed, 'audio.chapter_here', () =>
          onChange({ ...row, start: positionText(player.state().positionMs) }),
        )}
        {act(Trash2, 'audio.chapter_remove', onRemove)}
      </span>
      {fault !== undefined && (
        <p id={id} className={styles.fault}>
          {fault}
        </p>
      )}
    </li>
  );
}

function useChapters(episodeId: string, { data, version }: Versioned<Chapters>, durationMs: number) {
  const queries = useQueryClient();
  const { queryKey } = chaptersQuery(episodeId);
  const { mutateAsync } = useSend('put', '/episodes/{id}/chapters');
  const valuesOf = ({ chapters }: Chapters) => ({ chapters: textsOfChapters(chapters) });
  return useForm<Readonly<Record<'chapters', readonly string[]>>>({
    draftId: `${episodeId}:chapters`,
    version: { etag: version, values: valuesOf(data) },
    check: ({ chapters }) => {
      const rows = chapters.map(rowOf);
      return rows.some((row) => rowFault(row, rows, durationMs)) ? { chapters: 'audio.chapters_wrong' } : {};
    },
    save: async ({ chapters }, _changed, seen) => {
      const saved = await mutateAsync({
        path: { id: episodeId },
        body: { chapters: chaptersOf(chapters) },
        version: seen,
      });
      const now = queries.getQueryData(queryKey);
      return { etag: now?.version, values: valuesOf(now?.data ?? saved) };
    },
    reload: () => void queries.invalidateQueries({ queryKey }),
  });
}

/** The recording beside the rows; nothing where there is none to be heard. */
function Sound({ heard, chapters }: { readonly heard: Heard; readonly chapters: readonly Stretch[] }) {
  const waveform = useQuery(waveformQuery(heard.productionId));
  return (
    <Loaded query={waveform} lines={5}>
      {({ silences = [] }) => <SoundCard {...{ heard, silences, chapters }} />}
    </Loaded>
  );
}

function Editor({ episode, read }: { readonly episode: Answer<'/episodes/{id}'>; readonly read: Versioned<Chapters> }) {
  const heard = useHeard(episode);
  const durationMs = heard?.durationMs ?? anyLengthMs;
  const form = useChapters(episode.id, read, durationMs);
  const texts = form.state.values.chapters;
  const rows = texts.map(rowOf);
  const isChecked = form.faultOf('chapters') !== undefined;
  const set = (next: readonly string[]) => form.set('chapters', next);
  const faultOf = (row: ChapterRow) => {
    const fault = isChecked ? rowFault(row, rows, durationMs) : undefined;
    return fault && t(fault);
  };
  const add = () => {
    const start = positionText(player.state().positionMs);
    const after = rows.filter((row) => (parsePosition(row.start) ?? 0) <= player.state().positionMs).length;
    set(texts.toSpliced(after, 0, rowText({ start, title: '', url: '', more: {} })));
    const name = t('audio.chapter_field_title', { number: after + 1 });
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`[aria-label="${name}"]`)?.focus());
  };
  return (
    <>
      {heard && <Sound heard={heard} chapters={stretchesOfRows(texts, durationMs)} />}
      <Card
        title={t('audio.tab_chapters')}
        basis={t('audio.chapters_basis')}
        end={
          <Button size="small" icon={ListPlus} data-add="chapters" onClick={add}>
            {t('audio.chapter_add')}
          </Button>
        }
      >
        <FormFrame
          form={form}
          inCard
          names={{ chapters: 'audio.tab_chapters' }}
          shows={(value) =>
            (value as readonly string[]).map((text) => `${rowOf(text).start} ${rowOf(text).title}`).join('; ')
          }
          saves="audio.chapters_save"
          onSaved={() => showToast(t('audio.chapters_saved'))}
        >
          {rows.length === 0 && <p className={styles.none}>{t('audio.no_chapters')}</p>}
          <ol className={styles.rows} data-rows="chapters">
            {rows.map((row, at) => (
              <Row
                key={at}
                number={at + 1}
                row={row}
                fault={faultOf(row)}
                onChange={(changed) => set(texts.with(at, rowText(changed)))}
                onRemove={() => {
                  set(texts.toSpliced(at, 1));
                  focusAfterRemoval('chapters', at);
                }}
              />
            ))}
          </ol>
        </FormFrame>
      </Card>
    </>
  );
}

/** The chapters of an episode in rows, beside its recording. */
export function ChaptersPage() {
  const { episodeId } = route.useParams();
  const { data: episode } = useQuery(episodeQuery(episodeId));
  const query = useQuery({ ...chaptersQuery(episodeId), select: withVersion<Chapters> });
  return (
    <Loaded query={query} lines={8}>
      {(read) => episode && <Editor key={episodeId} episode={episode} read={read} />}
    </Loaded>
  );
}
