import { chapters, markers, productCatalog, type Resource } from '@longwave/command-catalog';
import { showTranscripts, transcript } from '@longwave/hosting-client';
import { z } from 'zod';
import { etagOf } from '../http/etag.ts';
import { changesFrom, commandRoute, sendToObject } from '../resource-routes.ts';
import { defineRoute, type AnswerShape, type Route, type Deps } from '../route.ts';

const object = { type: 'episodes', from: 'path', field: 'id' } as const;

type Show = (stored: Resource<'episodes'>['attributes'], deps: Pick<Deps, 'mediaUrl'>) => unknown;

/** A list that belongs to an episode: how it is stored, shown and replaced. */
interface Content {
  readonly name: 'chapters' | 'transcripts' | 'markers';
  readonly answer: AnswerShape;
  readonly show: Show;
}

const contents: readonly Content[] = [
  {
    name: 'markers',
    answer: { name: 'Markers', versioned: true, schema: z.strictObject({ markers }) },
    show: (stored) => stored.markers ?? [],
  },
  {
    name: 'chapters',
    answer: { name: 'Chapters', versioned: true, schema: z.strictObject({ chapters }) },
    show: (stored) => stored.chapters ?? [],
  },
  {
    name: 'transcripts',
    answer: { name: 'Transcripts', versioned: true, schema: z.strictObject({ transcripts: z.array(transcript) }) },
    show: (stored, { mediaUrl }) => showTranscripts(stored, mediaUrl),
  },
];

function contentRoutes(path: string, { name, answer, show }: Content): Route[] {
  const command = `episode.set_${name}` as const;
  const at = `${path}/${name}`;
  const body = (episode: Resource<'episodes'>, deps: Deps) => ({
    status: 200,
    body: { [name]: show(episode.attributes, deps) },
    etag: etagOf(episode),
  });
  return [
    defineRoute({
      method: 'GET',
      path: at,
      operation: `episode${name[0]!.toUpperCase()}${name.slice(1)}Get`,
      summary: `Reads the ${name} of one episode.`,
      object,
      answer,
      tagged: true,
      run: async ({ object: episode }, deps) => body(episode, deps),
    }),
    defineRoute({
      method: 'PUT',
      path: at,
      ...commandRoute(command),
      object,
      guarded: true,
      body: z.strictObject(productCatalog.commands[command].changes.shape),
      answer,
      run: async (call, deps) =>
        body((await sendToObject(call, deps, command, changesFrom(command, call.body))).resource, deps),
    }),
  ];
}

/** GET and PUT of markers, chapters and transcripts; the tag is the episode's, because each change is a version of it. */
export const episodeContents = (path: string): readonly Route[] =>
  contents.flatMap((content) => contentRoutes(path, content));
