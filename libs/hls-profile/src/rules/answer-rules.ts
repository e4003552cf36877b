import { failure, warning, type Issue } from '../finding.ts';
import { askingOrigin, type AnswerHead, type ResourceKind } from '../presentation.ts';
import { allMedia, referenceMedia, seconds } from '../tracks.ts';
import { sources, type Rule } from './rule.ts';

/** The same issue of many answers, as one of the first. */
function* foldAnswers(
  answers: readonly AnswerHead[],
  judge: (answer: AnswerHead) => Iterable<Issue>,
): Generator<Issue> {
  const same = Map.groupBy(
    answers.flatMap((answer) => [...judge(answer)].map((issue) => ({ ...issue, kind: answer.kind }))),
    ({ kind, level, message }) => `${kind} ${level} ${message}`,
  );
  for (const issues of same.values()) {
    const { level, where, message } = issues[0]!;
    const more = new Set(issues.map((issue) => issue.where)).size - 1;
    yield { level, where: more > 0 ? `${where}, and ${more} more` : where, message };
  }
}

const listed = (value: string | undefined) =>
  (value ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim());

function* checkCors({ where, headers }: AnswerHead): Generator<Issue> {
  const origin = headers['access-control-allow-origin'];
  const allows = 'Answer with Access-Control-Allow-Origin: *, or with the origin of the request and Vary: Origin';
  if (origin === undefined) yield failure(where, `Pages of other origins may not read the answer. ${allows}.`);
  else if (origin !== '*' && origin !== askingOrigin)
    yield failure(where, `The answer allows the origin “${origin}”, which is not ${askingOrigin}. ${allows}.`);
  else if (origin !== '*' && !listed(headers['vary']).includes('origin'))
    yield failure(where, 'The answer allows one origin, and a cache may give it to another. Add Vary: Origin.');
  if (headers['access-control-allow-credentials'] !== undefined)
    yield failure(where, 'The answer has Access-Control-Allow-Credentials. Take it away.');
  const exposed = listed(headers['access-control-expose-headers']);
  const missing = ['Content-Range', 'Content-Length'].filter(
    (name) => !exposed.includes(name.toLowerCase()) && !exposed.includes('*'),
  );
  if (missing.length > 0 && origin !== undefined)
    yield warning(
      where,
      `Players cannot read ${missing.join(' and ')}. Add Access-Control-Expose-Headers: Content-Range, Content-Length.`,
    );
}

const cors: Rule = {
  id: 'A14',
  demands: 'Every answer may be read by pages of Apple (CORS), without credentials.',
  source: sources.podcasts,
  general: 'warning',
  inAds: true,
  check: ({ answers }) => foldAnswers(answers, checkCors),
};

const mediaTypes: Readonly<Record<ResourceKind, { readonly ok: RegExp; readonly best: string }>> = {
  playlist: { ok: /^(application\/vnd\.apple\.mpegurl|audio\/mpegurl)$/, best: 'application/vnd.apple.mpegurl' },
  'asset list': { ok: /^application\/json$/, best: 'application/json' },
  chapters: { ok: /^application\/json$/, best: 'application/json' },
  captions: { ok: /^text\/vtt$/, best: 'text/vtt' },
  media: { ok: /^((video|audio)\/(mp4|iso\.segment|mp2t|aac))$/, best: 'the type of the file, such as video/mp4' },
};

const types: Rule = {
  id: 'media-type',
  demands: 'Answers have the media types that players know.',
  source: `${sources.rfc('4')}; ${sources.authoring}`,
  general: 'same',
  inAds: true,
  check: ({ answers }) =>
    foldAnswers(answers, ({ kind, where, headers }) => {
      const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
      const { ok, best } = mediaTypes[kind];
      return ok.test(type)
        ? []
        : [warning(where, `The answer has the media type “${type}”. Write Content-Type: ${best}.`)];
    }),
};

/** Seconds of the first cue that begins after the end; only where times are not moved by X-TIMESTAMP-MAP. */
function findLateCue(text: string, head: string, end: number): string | undefined {
  if (/^X-TIMESTAMP-MAP=/m.test(head) && !head.includes('MPEGTS:0')) return undefined;
  const cues = text.matchAll(/^(?:(\d+):)?(\d\d):(\d\d\.\d{3}) -->/gm);
  return cues.find(
    ([, hours = '0', minutes, rest]) => Number(hours) * 3600 + Number(minutes) * 60 + Number(rest) > end,
  )?.[0];
}

function checkCaptions(where: string, text: string, end: number): Issue | undefined {
  const head = text.split(/\r?\n\r?\n/)[0]!;
  if (!/^\uFEFF?WEBVTT([ \t\r\n]|$)/.test(text))
    return failure(where, 'A file of captions is no WebVTT. Begin it with the line WEBVTT.');
  if (!/^X-TIMESTAMP-MAP=/m.test(head))
    return warning(
      where,
      'A file of captions does not say what its times mean. Write X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0 below WEBVTT.',
    );
  const late = findLateCue(text, head, end);
  return late === undefined
    ? undefined
    : failure(where, `A caption begins after the stream of ${seconds(end)}: “${late} …”. Write times of the content.`);
}

const captions: Rule = {
  id: 'captions',
  demands: 'Captions are WebVTT, best with X-TIMESTAMP-MAP, at times of the content.',
  source: sources.rfc('3.5'),
  general: 'warning',
  inAds: true,
  *check(presentation) {
    const end = referenceMedia(presentation)?.playlist.lengthSeconds ?? Infinity;
    for (const { where, kind, segments } of allMedia(presentation)) {
      if (kind !== 'subtitles') continue;
      const issues = segments.flatMap(({ text = '' }) => checkCaptions(where, text, end) ?? []);
      if (issues[0]) yield issues[0];
    }
  },
};

const chapters: Rule = {
  id: 'chapters',
  demands: 'Chapters are a JSON array in which each has a start-time in seconds.',
  source: sources.authoring,
  general: 'same',
  inAds: false,
  *check(presentation) {
    for (const problem of presentation.chapters?.problems ?? []) yield failure(presentation.chapters!.where, problem);
  },
};

export const answerRules: readonly Rule[] = [cors, types, captions, chapters];
