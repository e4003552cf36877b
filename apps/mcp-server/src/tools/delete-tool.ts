import { productCatalog, type Resource, type ResourceDefinition } from '@longwave/command-catalog';
import { operationConsequenceSchema, type OperationConsequence } from '@longwave/events';
import type { Access, Asker } from '@longwave/hosting-client';
import { z } from 'zod';
import { publicTool, type ToolDeps } from '../tool.ts';
import { expectedVersion, writeArguments } from './fields.ts';
import { confirmArguments, preview, previewCall, requireVersion } from './preview.ts';

const kinds = {
  episode: { type: 'episodes', command: 'episode.archive' },
  media_clip: { type: 'media_clips', command: 'media_clip.delete' },
  production: { type: 'productions', command: 'production.delete' },
} as const;
type Kind = keyof typeof kinds;

interface Found {
  readonly resource: Resource<(typeof kinds)[Kind]['type']>;
  readonly access: Access;
  /** The episode that listeners see change; none when a production goes, because its audio stays. */
  readonly episode: Resource<'episodes'> | undefined;
}

async function findObject(kind: Kind, id: string, asker: Asker, { management }: ToolDeps): Promise<Found> {
  if (kind === 'episode') {
    const found = await management.find(asker, 'episodes', id);
    return { ...found, episode: found.resource };
  }
  if (kind === 'production') return { ...(await management.find(asker, 'productions', id)), episode: undefined };
  const found = await management.find(asker, 'media_clips', id);
  const { resource: episode } = await management.find(asker, 'episodes', found.resource.attributes.episode_id);
  return { ...found, episode };
}

/** A consequence with the noun of its resource. */
function renderConsequence({ type, ...rest }: OperationConsequence) {
  const types: Readonly<Record<string, ResourceDefinition | undefined>> = productCatalog.resources;
  return { ...rest, kind: types[type]?.noun ?? type };
}

export const deleteContent = publicTool({
  name: 'delete_content',
  title: 'Delete an episode, an audio file or an encoding',
  description:
    'Deletes an episode (it is archived for good), a media clip or a production. It first answers with a preview and a confirm_token: show the preview to the person, and call again with the token and the same arguments when they agree.',
  scopes: ['mcp:content.delete'],
  input: z.strictObject({
    kind: z.enum(['episode', 'media_clip', 'production']),
    id: z.string().min(1).max(64),
    expected_version: expectedVersion,
    ...confirmArguments,
    ...writeArguments,
  }),
  output: z.discriminatedUnion('status', [
    preview,
    z.strictObject({
      status: z.literal('done'),
      kind: z.string(),
      id: z.string(),
      operation_id: z.string(),
      consequences: z
        .array(operationConsequenceSchema.omit({ type: true }).extend({ kind: z.string() }))
        .describe('Other objects that changed with it.'),
    }),
  ]),
  run: async ({ asker, grant, args: { confirm_token: token, idempotency_key: key, ...args } }, deps) => {
    const { kind, id, expected_version: version } = args;
    const call = { grant, tool: 'delete_content', args };
    if (token === undefined) {
      const found = await findObject(kind, id, asker, deps);
      requireVersion(found.resource, version);
      const { command } = kinds[kind];
      return { output: await previewCall({ kind, command, ...found }, call, asker, deps) };
    }
    const idempotencyKey = await deps.confirmations.redeem(token, call, key);
    const { operationId, consequences } = await deps.management.execute(asker, {
      type: kinds[kind].command,
      subjectId: id,
      changes: {},
      expectedVersion: version,
      idempotencyKey,
    });
    return {
      output: {
        status: 'done' as const,
        kind,
        id,
        operation_id: operationId,
        consequences: consequences.map(renderConsequence),
      },
    };
  },
});
