import { findResource } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Send } from './send-as-management.ts';

/** The finding of a file's own fault, as opposed to an encoder's trouble. */
const fileFault = /^media_/;

interface ProductionFacts {
  readonly episode_id: string;
  readonly upload_id: string;
  readonly publication_flag: boolean;
  readonly problem?: { readonly code: string };
}
const factsOf = (event: DomainEvent) => event.after.attributes as unknown as ProductionFacts;

/** An upload that a production uses has arrived: no further URL to write it is signed. */
export const markReceived = (event: DomainEvent, send: Send): Promise<void> =>
  send(event, 'receive', {
    commandType: 'upload.receive',
    subject: { type: 'uploads', id: factsOf(event).upload_id },
    changes: {},
  });

/**
 * After encoding: the episode gets its audio and, when asked for, is published. An older production that ends later than a
 * newer one never takes its place (ids sort by creation).
 */
export async function attachAndPublish(event: DomainEvent, send: Send, pool: Pool): Promise<void> {
  const { episode_id: episodeId, publication_flag: publish } = factsOf(event);
  const subject = { type: 'episodes', id: episodeId };
  const episode = await findResource(pool, event.workspace_id, 'episodes', episodeId);
  const current = episode?.attributes['current_production_id'];
  if (typeof current !== 'string' || current < event.subject.id)
    await send(event, 'attach', {
      commandType: 'episode.attach_production',
      subject,
      changes: { production_id: event.subject.id },
    });
  if (publish) await send(event, 'publish', { commandType: 'episode.publish', subject, changes: {} });
}

/** A file that is no usable audio leaves nothing behind: its upload ends, and with it the object. */
export async function endFaultyUpload(event: DomainEvent, send: Send): Promise<void> {
  const { problem, upload_id: uploadId } = factsOf(event);
  if (problem && fileFault.test(problem.code))
    await send(event, 'abort', {
      commandType: 'upload.abort',
      subject: { type: 'uploads', id: uploadId },
      changes: {},
    });
}
