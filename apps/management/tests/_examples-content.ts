import { newId } from '@longwave/ids';
import { creates, on, type Examples } from './_example.ts';
import { segment } from './_management.ts';
import { hour, service } from './_values.ts';
import type { World } from './_world.ts';

const problem = { code: 'media_not_audio', detail: 'The file is a text.' };
const fileUrl = async (w: World) => ({ file_url: (await w.upload()).attributes['file_url'] });
const vtt = 'WEBVTT\n\n00:00.000 --> 00:01.000\n<v Mary>Hello';
const tomorrow = () => new Date(Date.now() + 24 * hour).toISOString();

/** Valid requests for the commands of podcasts and episodes. */
export const contentExamples = {
  'workspace.provision': async (w) => ({
    subject: { type: 'workspaces', id: w.workspaceId, version: 0 },
    changes: { name: 'A', account_id: newId('acc') },
    actor: service('management'),
  }),
  'podcast.create': async (w) => creates('podcasts', { title: 'A', language: 'en' }, w.actor),
  'podcast.revise': async (w) => on(await w.podcast(), { title: 'B' }, w.actor),
  'podcast.publish': async (w) => on(await w.readyPodcast(), {}, w.actor),
  'podcast.unpublish': async (w) => on(await w.publishedPodcast(), {}, w.actor),
  'podcast.archive': async (w) => on(await w.podcast(), {}, w.actor),
  'podcast.set_intro': async (w) => on(await w.podcast(), await fileUrl(w), w.actor),
  'podcast.set_outro': async (w) => on(await w.podcast(), await fileUrl(w), w.actor),
  'podcast.clear_intro': async (w) => on((await w.preparing('intro')).podcast, {}, w.actor),
  'podcast.clear_outro': async (w) => on((await w.preparing('outro')).podcast, {}, w.actor),
  'podcast.start_intro_track': async (w) => on(await w.ready('intro'), {}, service('management')),
  'podcast.start_outro_track': async (w) => on(await w.ready('outro'), {}, service('management')),
  'podcast.record_intro': async (w) => {
    const { podcast, lease } = await w.preparing('intro');
    return on(podcast, { segment }, service('encoder'), lease);
  },
  'podcast.record_outro': async (w) => {
    const { podcast, lease } = await w.preparing('outro');
    return on(podcast, { segment }, service('encoder'), lease);
  },
  'podcast.fail_intro': async (w) => {
    const { podcast, lease } = await w.preparing('intro');
    return on(podcast, { problem }, service('encoder'), lease);
  },
  'podcast.fail_outro': async (w) => {
    const { podcast, lease } = await w.preparing('outro');
    return on(podcast, { problem }, service('encoder'), lease);
  },
  'podcast.invite_collaborator': async (w) =>
    on(await w.podcast(), { email: 'Mary@Harbour.example', role: 'editor' }, w.actor),
  'podcast.remove_collaborator': async (w) => on(await w.podcast(), { email: 'mary@harbour.example' }, w.actor),
  'podcast.redirect_feed': async (w) =>
    on(await w.publishedPodcast(), { new_feed_url: 'https://feeds.harbour.example/light.xml' }, w.actor),
  'episode.create': async (w) => creates('episodes', { podcast_id: (await w.podcast()).id, title: 'One' }, w.actor),
  'episode.revise': async (w) => on(await w.episode(), { title: 'Two' }, w.actor),
  'episode.attach_production': async (w) => {
    const production = await w.encoded();
    return {
      subject: { type: 'episodes', id: String(production.attributes['episode_id']), version: 1 },
      changes: { production_id: production.id },
      actor: w.actor,
    };
  },
  'episode.import': async (w) =>
    creates(
      'episodes',
      { podcast_id: (await w.podcast()).id, title: 'Old', guid: 'g-1', published_at: '2020-01-02T03:04:05Z' },
      service('management'),
    ),
  'episode.set_chapters': async (w) => on(await w.episode(), { chapters: [{ start_ms: 0, title: 'One' }] }, w.actor),
  'episode.set_transcripts': async (w) =>
    on(await w.episode(), { transcripts: [{ language: 'en', format: 'vtt', content: vtt }] }, w.actor),
  'episode.set_markers': async (w) =>
    on(await w.episode(), { markers: [{ key: 'start', kind: 'pre', position_ms: 0, max_slots: 1 }] }, w.actor),
  'episode.apply_template': async (w) =>
    on(await w.episode(), { batch_encoding_id: newId('bat'), intro: segment, outro: null }, service('management')),
  'episode.publish': async (w) => on(await w.playableEpisode(), {}, w.actor),
  'episode.schedule': async (w) => on(await w.playableEpisode(), { publish_at: tomorrow() }, w.actor),
  'episode.publish_due': async (w) => on(await w.dueEpisode(), {}, service('management')),
  'episode.unpublish': async (w) => on(await w.send('episode.publish', await w.playableEpisode(), {}), {}, w.actor),
  'episode.archive': async (w) => on(await w.episode(), {}, w.actor),
} satisfies Examples;
