import { productCatalog } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { addTool, changeTool } from '../tool.ts';
import { episodeId, expectedVersion, productionId, uploadId, writeArguments } from './fields.ts';
import { objects, show } from './objects.ts';

const { file_url, mode } = productCatalog.commands['production.create'].changes.shape;

export const createProduction = addTool({
  name: 'create_production',
  title: 'Prepare an encoding',
  description:
    'Creates a production: the encoding of one audio file for one episode. Name the file by `upload_id` or by `file_url`. control_production starts it.',
  scopes: ['mcp:media.write'],
  deadlineMs: 25_000,
  input: z.strictObject({
    episode_id: episodeId,
    upload_id: uploadId.optional(),
    file_url: file_url.describe('`file_url` of an upload, or any https address.'),
    mode,
    ...writeArguments,
  }),
  output: z.strictObject({ production: objects.production }),
  run: async ({ asker, args }, deps) => {
    const { episode_id, upload_id, file_url: url, idempotency_key: idempotencyKey } = args;
    if (upload_id !== undefined && url !== undefined)
      throw new Problem('validation_failed', 'Name the file by upload_id or by file_url, not by both.');
    const { access } = await deps.management.find(asker, 'episodes', episode_id);
    const upload = upload_id === undefined ? undefined : await deps.management.find(asker, 'uploads', upload_id);
    const file = upload?.resource.attributes.file_url ?? url;
    const { resource } = await deps.management.execute(asker, {
      type: 'production.create',
      workspaceId: access.workspaceId,
      changes: {
        episode_id,
        ...(file !== undefined && { file_url: file }),
        ...(args.mode !== undefined && { mode: args.mode }),
      },
      idempotencyKey,
    });
    return { output: { production: await show('productions', resource, asker, deps) } };
  },
});

export const controlProduction = changeTool({
  name: 'control_production',
  title: 'Start or stop an encoding',
  description:
    'Starts or stops an encoding. Starting takes encoding time of the plan; the answer has the operation, whose progress get_operation shows. With `publish_when_done` the episode is published as soon as it is encoded.',
  scopes: ['mcp:media.write'],
  moreScopes: ({ publish_when_done: publish }) => (publish === true ? ['mcp:episodes.publish'] : []),
  deadlineMs: 25_000,
  input: z.strictObject({
    production_id: productionId,
    action: z.enum(['start', 'stop']),
    publish_when_done: z.boolean().default(false).describe('Needs the scope mcp:episodes.publish as well.'),
    expected_version: expectedVersion.optional(),
    ...writeArguments,
  }),
  output: z.strictObject({ production: objects.production, operation_id: z.string() }),
  run: async ({ asker, args }, deps) => {
    const write = {
      subjectId: args.production_id,
      expectedVersion: args.expected_version,
      idempotencyKey: args.idempotency_key,
    };
    const { resource, operationId } =
      args.action === 'start'
        ? await deps.management.execute(asker, {
            type: 'production.start',
            changes: { publish_episode: args.publish_when_done },
            ...write,
          })
        : await deps.management.execute(asker, { type: 'production.stop', changes: {}, ...write });
    return {
      output: { production: await show('productions', resource, asker, deps), operation_id: operationId },
    };
  },
});
