import { creates, on, type Examples } from './_example.ts';
import { hlsTrack, hour, media, service } from './_values.ts';
import type { World } from './_world.ts';

/** The file of an encoded production. */
async function recorded(w: World) {
  const { id, attributes } = await w.encoded();
  return {
    episode_id: attributes['episode_id'],
    production_id: id,
    file_format: 'mp3',
    sha256: media.sha256,
    size: media.size_bytes,
    duration_ms: media.duration_ms,
  };
}

/** Valid requests for the commands of uploads and productions. */
export const mediaExamples = {
  'upload.grant': async (w) => creates('uploads', { filename: 'one.mp3', filesize: 3 }, w.actor),
  'upload.sign_part': async (w) => on(await w.partedUpload(), { part_number: 2 }, w.actor),
  'upload.complete': async (w) => on(await w.upload(), {}, service('management')),
  'upload.expire': async (w) => on(await w.upload(), {}, service('management')),
  'upload.abort': async (w) => on(await w.upload(), {}, w.actor),
  'production.create': async (w) =>
    creates(
      'productions',
      { episode_id: (await w.episode()).id, file_url: (await w.upload()).attributes['file_url'] },
      w.actor,
    ),
  'production.derive': async (w) =>
    creates(
      'productions',
      {
        episode_id: (await w.episode()).id,
        file_url: (await w.upload()).attributes['file_url'],
        imported: true,
        publication_flag: true,
      },
      service('management'),
    ),
  'production.revise': async (w) =>
    on(await w.production(), { file_url: (await w.upload()).attributes['file_url'], publication_flag: true }, w.actor),
  'production.delete': async (w) => on(await w.production(), {}, w.actor),
  'production.stop': async (w) => on((await w.encoding()).production, {}, w.actor),
  'production.start': async (w) => {
    await w.setEncodingLimit(hour);
    return on(await w.production(), { publish_episode: true }, w.actor);
  },
  'production.complete': async (w) => {
    const { production, lease } = await w.encoding();
    return on(production, w.completion, service('encoder'), lease);
  },
  'production.fail': async (w) => {
    const { production, lease } = await w.encoding();
    return on(
      production,
      { problem: { code: 'media_empty', detail: 'The file is empty.' } },
      service('encoder'),
      lease,
    );
  },
  'production.start_track': async (w) => on(await w.encoded(), { track: 'a192' }, service('management')),
  'production.record_track': async (w) => {
    const { production, lease } = await w.trackEncoding();
    return on(production, { track: 'a192', file: hlsTrack }, service('encoder'), lease);
  },
  'production.fail_track': async (w) => {
    const { production, lease } = await w.trackEncoding();
    const problem = { code: 'encoder_failed', detail: 'The file is no longer there.' };
    return on(production, { track: 'a192', problem }, service('encoder'), lease);
  },
  'media_clip.register': async (w) =>
    creates(
      'media_clips',
      {
        episode_id: (await w.episode()).id,
        file_format: 'mp3',
        url: (await w.upload('one.mp3', Buffer.from('ID3'))).attributes['file_url'],
        size: 3,
        duration_ms: 1000,
      },
      w.actor,
    ),
  'media_clip.record': async (w) => creates('media_clips', await recorded(w), service('management')),
  'media_clip.delete': async (w) =>
    on(await w.send('media_clip.record', null, await recorded(w), service('management')), {}, w.actor),
} satisfies Examples;
