import { productCatalog } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { commandRoute, createdAnswer, creating, versionOf } from '../resource-routes.ts';
import { defineRoute } from '../route.ts';

const { duration_ms: _milliseconds, ...fields } = productCatalog.commands['media_clip.register'].changes.shape;

/** Eleven days: longer than any audio that is one file. */
const maxDurationSeconds = 1_000_000;

/** Field errors of management, in the client's unit and name: it sends `duration` in seconds. */
function inSeconds(error: unknown): unknown {
  if (!(error instanceof Problem) || !error.context.errors) return error;
  const errors = error.context.errors.map((field) => ({
    ...field,
    path: field.path.replace(/duration_ms$/, 'duration'),
  }));
  return new Problem(error.code, error.message, { ...error.context, errors, cause: error });
}

/** POST /media_clips; `duration` in seconds. */
export const registerMediaClip = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    ...commandRoute('media_clip.register'),
    ...creating,
    object: { type: 'episodes', from: 'body', field: 'episode_id' },
    queryOrBody: true,
    body: z.strictObject({ ...fields, duration: z.number().min(0.001).max(maxDurationSeconds) }),
    answer: versionOf('media_clips'),
    run: async (call, deps) => {
      const { duration, ...changes } = call.body;
      const executed = await deps.management
        .execute(call.caller, {
          type: 'media_clip.register',
          workspaceId: call.access?.workspaceId,
          changes: { ...changes, duration_ms: Math.round(duration * 1000) },
          idempotencyKey: call.idempotencyKey,
        })
        .catch((error: unknown) => {
          throw inSeconds(error);
        });
      return createdAnswer(executed, call, deps);
    },
  });
