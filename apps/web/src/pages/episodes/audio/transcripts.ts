import type { Change } from '../../../api/send.ts';

/** One transcript as REST v1 takes it. */
export type SentTranscript = NonNullable<Change<'put', '/episodes/{id}/transcripts'>['body']>['transcripts'][number];

/** One transcript as it is shown. */
export interface ShownTranscript {
  readonly language: string;
  readonly captions?: boolean | undefined;
  readonly urls: Readonly<Record<'vtt' | 'srt' | 'json', string>>;
}

/** The most characters that management takes. */
export const charactersMax = 1_000_000;

const formats = { vtt: 'vtt', srt: 'srt', json: 'json' } as const;

/** The format of a file by its name; undefined for one that is no transcript. */
export const formatOf = (name: string): SentTranscript['format'] | undefined =>
  (formats as Readonly<Record<string, SentTranscript['format']>>)[name.split('.').at(-1)?.toLowerCase() ?? ''];

/** The language in the name of a file, as `lamp.de.vtt` or `lamp_pt-BR.srt`; undefined without one. */
export const languageIn = (name: string): string | undefined =>
  /[._-]([a-z]{2,3}(?:-[A-Za-z]{2,4})?)\.[a-z]+$/i.exec(name)?.[1];

/** Whether a text is a tag of a language as management takes it. */
export const isLanguage = (tag: string): boolean => /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(tag);

/** The document of a transcript that stays, to be sent again: REST v1 takes the whole list. */
export async function keptTranscript({ language, captions, urls }: ShownTranscript): Promise<SentTranscript> {
  const answer = await fetch(urls.json);
  if (!answer.ok) throw new Error(`the transcript in ${language} cannot be read: ${answer.status}`);
  return { language, format: 'json', content: await answer.text(), ...(captions !== undefined && { captions }) };
}
