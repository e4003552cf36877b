import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { FileText, Trash2 } from 'lucide-react';
import { useId, useState, type FormEvent } from 'react';
import { withVersion, type Answer, type Versioned } from '../../../api/queries.ts';
import { useSend } from '../../../api/send.ts';
import { t, type MessageKey } from '../../../messages/messages.ts';
import { Button } from '../../../parts/button.tsx';
import { Card, Cards } from '../../../parts/card.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Field } from '../../../parts/field.tsx';
import { languageName, numberText } from '../../../parts/format.ts';
import { focusAfterRemoval } from '../../../parts/form/row-focus.ts';
import { Loaded } from '../../../parts/loaded.tsx';
import { ProblemBanner } from '../../../parts/problem.tsx';
import { showToast } from '../../../parts/toast.tsx';
import { usePlace } from '../../../shell/place.ts';
import { podcastQuery } from '../../podcasts/podcast-queries.ts';
import { DropArea } from '../drop-zone.tsx';
import { episodeQuery } from '../episode-queries.ts';
import { transcriptsQuery } from './audio-queries.ts';
import { charactersMax, formatOf, isLanguage, keptTranscript, languageIn, type SentTranscript } from './transcripts.ts';
import styles from './transcripts-page.module.css';

type Transcripts = Answer<'/episodes/{id}/transcripts'>;
type Transcript = Transcripts['transcripts'][number];

const route = getRouteApi('/episodes/$episodeId');
const shownFormats = ['vtt', 'srt', 'json'] as const;

/** Replaces the list: what stays is read and sent again. */
function useTranscripts(episodeId: string, { data, version }: Versioned<Transcripts>) {
  const { mutateAsync } = useSend('put', '/episodes/{id}/transcripts');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const change = async (without: string, added: readonly SentTranscript[]): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      const stay = data.transcripts.filter(({ language }) => language !== without.toLowerCase());
      const transcripts = [...(await Promise.all(stay.map(keptTranscript))), ...added];
      await mutateAsync({ path: { id: episodeId }, body: { transcripts }, version });
      return true;
    } catch (cause) {
      setError(cause);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { change, error, isBusy };
}

function Row({
  of,
  onRemove,
  isBusy,
}: {
  readonly of: Transcript;
  readonly onRemove: () => void;
  readonly isBusy: boolean;
}) {
  const { language } = usePlace();
  const name = languageName(of.language, language);
  return (
    <li className={styles.row} data-row>
      <span className={styles.name}>
        <b>{name}</b>
        <small>
          {t('audio.cues', { cues: of.cue_count, shown: numberText(of.cue_count, language) })}
          {of.captions === true && `, ${t('audio.captions')}`}
        </small>
      </span>
      <span className={styles.links}>
        {shownFormats.map((format) => (
          <a
            key={format}
            href={of.urls[format]}
            aria-label={t('audio.transcript_as', { name, format: format.toUpperCase() })}
          >
            {format.toUpperCase()}
          </a>
        ))}
      </span>
      <Button
        kind="quiet"
        size="small"
        square
        icon={Trash2}
        busy={isBusy}
        aria-label={t('audio.transcript_remove', { name })}
        onClick={onRemove}
      />
    </li>
  );
}

/** A file that waits for its language. */
interface Chosen {
  readonly name: string;
  readonly format: SentTranscript['format'];
  readonly content: string;
}

async function read(file: File): Promise<Chosen | MessageKey> {
  const format = formatOf(file.name);
  if (!format) return 'audio.transcript_kind';
  const content = await file.text();
  if (content.length > charactersMax) return 'audio.transcript_large';
  return content === '' ? 'audio.transcript_empty' : { name: file.name, format, content };
}

function AddTranscript({
  usual,
  isBusy,
  onAdd,
}: {
  /** The language of the podcast. */
  readonly usual: string;
  readonly isBusy: boolean;
  readonly onAdd: (transcript: SentTranscript) => Promise<boolean>;
}) {
  const { language: mine } = usePlace();
  const [chosen, setChosen] = useState<Chosen>();
  const [fault, setFault] = useState<MessageKey>();
  const [language, setLanguage] = useState(usual);
  const id = useId();
  const take = async (file: File | undefined) => {
    if (!file) return;
    const found = await read(file);
    setFault(typeof found === 'string' ? found : undefined);
    setChosen(typeof found === 'string' ? undefined : found);
    setLanguage(languageIn(file.name) ?? usual);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!chosen) return setFault('audio.transcript_choose_first');
    if (!isLanguage(language)) return undefined;
    const { format, content } = chosen;
    if (await onAdd({ language, format, content })) setChosen(undefined);
    return undefined;
  };
  return (
    <DropArea onFiles={([first]) => void take(first?.file)}>
      <form className={styles.add} noValidate onSubmit={(event) => void submit(event)}>
        <Field label={t('audio.transcript_file')} hint={t('audio.transcript_hint')} error={fault && t(fault)}>
          {({ className: _look, ...control }) => (
            <input
              {...control}
              data-add="transcripts"
              type="file"
              accept=".vtt,.srt,.json"
              onChange={({ currentTarget }) => void take(currentTarget.files?.[0])}
            />
          )}
        </Field>
        {chosen && <p className={styles.chosen}>{t('audio.transcript_chosen', { name: chosen.name })}</p>}
        <Field
          label={t('audio.transcript_language')}
          hint={isLanguage(language) ? languageName(language, mine) : undefined}
          error={isLanguage(language) ? undefined : t('audio.transcript_no_language')}
        >
          {(control) => (
            <input
              {...control}
              value={language}
              list={id}
              autoComplete="off"
              onChange={(event) => setLanguage(event.target.value.trim())}
            />
          )}
        </Field>
        <datalist id={id}>
          {['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'pl'].map((tag) => (
            <option key={tag} value={tag}>
              {languageName(tag, mine)}
            </option>
          ))}
        </datalist>
        <Button type="submit" icon={FileText} busy={isBusy}>
          {t('audio.transcript_add')}
        </Button>
      </form>
    </DropArea>
  );
}

function Editor({ episodeId, read: found }: { readonly episodeId: string; readonly read: Versioned<Transcripts> }) {
  const { data: episode } = useQuery(episodeQuery(episodeId));
  const { data: podcast } = useQuery({ ...podcastQuery(episode?.podcast_id ?? ''), enabled: episode !== undefined });
  const { change, error, isBusy } = useTranscripts(episodeId, found);
  const { transcripts } = found.data;
  const add = async (transcript: SentTranscript) => {
    const isDone = await change(transcript.language, [transcript]);
    if (isDone) showToast(t('audio.transcript_saved'));
    return isDone;
  };
  const remove = async (language: string) => {
    const at = transcripts.findIndex((each) => each.language === language);
    if (!(await change(language, []))) return;
    showToast(t('audio.transcript_removed'));
    focusAfterRemoval('transcripts', at);
  };
  return (
    <Cards>
      <Card title={t('audio.tab_transcripts')} basis={t('audio.transcripts_basis')}>
        {error !== undefined && <ProblemBanner error={error} />}
        {transcripts.length === 0 ? (
          <Empty icon={FileText} title="audio.no_transcript" why="audio.no_transcript_why" />
        ) : (
          <ul className={styles.rows} data-rows="transcripts">
            {transcripts.map((each) => (
              <Row key={each.language} of={each} isBusy={isBusy} onRemove={() => void remove(each.language)} />
            ))}
          </ul>
        )}
      </Card>
      <Card title={t('audio.transcript_new')}>
        <AddTranscript key={podcast?.language} usual={podcast?.language ?? 'en'} isBusy={isBusy} onAdd={add} />
      </Card>
    </Cards>
  );
}

/** The transcripts of an episode, one for each language. */
export function TranscriptsPage() {
  const { episodeId } = route.useParams();
  const query = useQuery({ ...transcriptsQuery(episodeId), select: withVersion<Transcripts> });
  return (
    <Loaded query={query} lines={5}>
      {(found) => <Editor key={episodeId} episodeId={episodeId} read={found} />}
    </Loaded>
  );
}
