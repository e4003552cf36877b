import type { Resource } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { readTool } from '../tool.ts';
import { pageArguments, pageFields, podcastId, versionField } from './fields.ts';
import { linksOf } from './objects.ts';

const kinds = ['podcast', 'episode'] as const;
type Kind = (typeof kinds)[number];

const found = z.strictObject({
  kind: z.enum(kinds),
  id: z.string(),
  title: z.string(),
  state: z.string(),
  podcast_id: z.string(),
  ...versionField,
});

const item = ({
  id,
  resource_type: type,
  attributes,
  lifecycle_state: state,
  version,
}: Resource<'podcasts' | 'episodes'>) => ({
  kind: type === 'podcasts' ? ('podcast' as const) : ('episode' as const),
  id,
  title: attributes.title,
  state,
  podcast_id: 'podcast_id' in attributes ? attributes.podcast_id : id,
  version,
});

/** Where a page begins: the kind, and the cursor within it. */
function parseCursor(
  cursor: string | undefined,
  wanted: readonly Kind[],
): { readonly kind: Kind; readonly rest: string } {
  if (cursor === undefined) return { kind: wanted[0]!, rest: '' };
  const at = cursor.indexOf(':');
  const kind = wanted.find((one) => one === cursor.slice(0, Math.max(0, at)));
  if (!kind) throw new Problem('invalid_cursor', 'Send next_cursor of the page before, with the same arguments.');
  return { kind, rest: cursor.slice(at + 1) };
}

export const searchContent = readTool({
  name: 'search_content',
  title: 'Search podcasts and episodes',
  description:
    'Finds podcasts and episodes whose title contains a text, podcasts first. A page may have fewer items than `limit` although there are more: follow `next_cursor` until it is null.',
  scopes: ['mcp:read'],
  input: z.strictObject({
    query: z.string().min(1).max(200),
    kinds: z
      .array(z.enum(kinds))
      .min(1)
      .max(2)
      .default([...kinds]),
    podcast_id: podcastId.optional().describe('Only episodes of this podcast.'),
    ...pageArguments,
  }),
  output: z.strictObject({ items: z.array(found), ...pageFields }),
  run: async ({ asker, args }, { management }) => {
    const wanted =
      args.podcast_id === undefined ? kinds.filter((kind) => args.kinds.includes(kind)) : (['episode'] as const);
    const { kind, rest: cursor } = parseCursor(args.cursor, wanted);
    const access =
      args.podcast_id === undefined ? undefined : (await management.find(asker, 'podcasts', args.podcast_id)).access;
    const input = {
      titleContains: args.query,
      ...(access && { links: { podcast: args.podcast_id! }, workspaceId: access.workspaceId }),
    };
    const ask = { limit: args.limit, cursor };
    const { items, nextCursor } =
      kind === 'podcast'
        ? await management.listPage(asker, 'podcasts', input, ask)
        : await management.listPage(asker, 'episodes', input, ask);
    const nextKind = wanted[wanted.indexOf(kind as never) + 1];
    const following = nextKind ? `${nextKind}:` : null;
    return {
      output: { items: items.map(item), next_cursor: nextCursor === '' ? following : `${kind}:${nextCursor}` },
      links: linksOf(items),
    };
  },
});
