import { subjectOf } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { createUploadSigner } from '../src/workspace/uploads/sign-upload.ts';
import type { TestManagement } from './_management.ts';
import { service } from './_values.ts';
import type { World } from './_world.ts';

/** Grants, sends and signs uploads of one service. */
export function uploadsOf(management: () => TestManagement) {
  const signer = () => createUploadSigner(management().pool, management().store, management().clock);
  return {
    async grantAs(world: World, key: string, changes: Record<string, unknown>) {
      const outcome = await management().execute(
        {
          workspaceId: world.workspaceId,
          commandType: 'upload.grant',
          idempotencyKey: key,
          subject: { type: 'uploads', id: null },
          changes,
        },
        world.actor,
      );
      return { ...outcome, resource: subjectOf(outcome) };
    },
    signer,
    /** A URL that accepts the file. */
    sign: async (world: World, upload: Pick<ResourceView, 'id'>): Promise<string> =>
      (await signer().signUpload(world.workspaceId, upload.id)).url,
    receive: (world: World, upload: ResourceView) => world.send('upload.complete', upload, {}, service('management')),
  };
}

/** A production whose source is the upload. */
export const produceFrom = async (world: World, upload: ResourceView): Promise<ResourceView> =>
  world.send('production.create', null, {
    episode_id: (await world.episode()).id,
    file_url: upload.attributes['file_url'],
  });
