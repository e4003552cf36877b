import type { ResourceView } from '@longwave/events';
import { creates, on, type Examples } from './_example.ts';
import { digest, service } from './_values.ts';
import type { World } from './_world.ts';

const management = service('management');
const cause = 'The show has ended.';

/** A published episode of a podcast with video. */
export async function shownEpisode(w: World, settings: object = { hls_video: true }): Promise<ResourceView> {
  const podcast = await w.send('podcast.revise', await w.publishedPodcast(), settings);
  return w.send('episode.publish', await w.audibleEpisode(podcast), {});
}

/** A submission that nothing was sent of. */
export const draftSubmission = async (w: World, episode?: ResourceView) =>
  w.send('platform_submission.create', null, {
    platform: 'apple_podcasts',
    episode_id: (episode ?? (await shownEpisode(w))).id,
  });

const begun = { action: 'submit', sent_sha256: digest };
const externalReceipt = {
  ...{ action: 'submit', id: 'req-1', at: '2026-11-26T12:00:00.000Z', status: 201 },
  ...{ sent_sha256: digest, answered_sha256: digest },
};
const pending = { found: 'submitted', external_id: 'hvs-1', external_receipt: externalReceipt };

/** A submission whose worker is about to ask the platform. */
async function submitting(w: World, draft?: ResourceView) {
  const submission = await w.send('platform_submission.submit', draft ?? (await draftSubmission(w)), {});
  const lease = await w.lease('ask_platform', submission.id);
  return { submission, lease };
}
async function attempted(w: World) {
  const { submission, lease } = await submitting(w);
  return { submission: await w.send('platform_submission.begin', submission, begun, management, lease), lease };
}
async function submitted(w: World) {
  const { submission, lease } = await attempted(w);
  return w.send('platform_submission.record', submission, pending, management, lease);
}

/** Valid requests for the commands of submissions to platforms. */
export const platformExamples = {
  'platform_submission.create': async (w) =>
    creates('platform_submissions', { platform: 'apple_podcasts', episode_id: (await shownEpisode(w)).id }, w.actor),
  'platform_submission.submit': async (w) => on(await draftSubmission(w), {}, w.actor),
  'platform_submission.refresh': async (w) => on(await submitted(w), {}, w.actor),
  'platform_submission.withdraw': async (w) => on(await submitted(w), { cause }, w.actor),
  'platform_submission.discard': async (w) => on(await draftSubmission(w), {}, w.actor),
  'platform_submission.begin': async (w) => {
    const { submission, lease } = await submitting(w);
    return on(submission, begun, management, lease);
  },
  'platform_submission.postpone': async (w) => {
    const { submission, lease } = await attempted(w);
    return on(submission, { problem: { code: 'platform_unavailable', detail: 'Later.' } }, management, lease);
  },
  'platform_submission.record': async (w) => {
    const { submission, lease } = await attempted(w);
    return on(submission, pending, management, lease);
  },
  'platform_submission.fail': async (w) => {
    const { submission, lease } = await attempted(w);
    const problem = { code: 'provider_rejected', detail: 'Not this one.' };
    return on(submission, { problem, outcome: 'rejected', external_receipt: externalReceipt }, management, lease);
  },
} satisfies Examples;
