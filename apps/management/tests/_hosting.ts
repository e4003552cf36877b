import { productCatalog, type ProductCommand } from '@longwave/command-catalog';
import { subjectOf, type Actor, type CommandOutcome } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { claimJob } from '../src/background/job-table.ts';
import { saveEncodingLimit } from '../src/hosting/productions/encoding-balance-table.ts';
import { digest, hour, person, service } from './_values.ts';

import { segment, type TestManagement } from './_management.ts';

/** Creates the content of a workspace by commands. */
export function createHosting(management: TestManagement, workspaceId: string = newId('ws')) {
  const { execute, pool, store } = management;
  const actor = person(workspaceId);

  async function send(
    commandType: ProductCommand,
    subject: Pick<ResourceView, 'resource_type' | 'id' | 'version'> | null,
    changes: unknown,
    as: Actor = actor,
    reason?: unknown,
  ): Promise<ResourceView> {
    const type = productCatalog.commands[commandType].subject;
    const outcome: CommandOutcome = await execute(
      {
        workspaceId,
        commandType,
        idempotencyKey: newId('req'),
        subject: { type, id: subject?.id ?? null, version: subject?.version ?? 0 },
        changes,
        reason,
      },
      as,
    );
    return subjectOf(outcome);
  }

  /** Attaches a production to its episode. A follower may attach it in between, which makes another version. */
  async function attach(episodeId: string, production: ResourceView): Promise<ResourceView> {
    const { rows } = await pool.query<ResourceView>('select resource_type, id, version from resource where id = $1', [
      episodeId,
    ]);
    return send('episode.attach_production', rows[0]!, { production_id: production.id }).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'version_conflict') return attach(episodeId, production);
      throw error;
    });
  }

  const leases = new Map<string, { readonly job_id: string; readonly lease_id: string }>();
  const world = {
    workspaceId,
    actor,
    pool,
    now: management.clock,
    /** Moves the service's clock forward. */
    ahead: (ms: number) => void (management.aheadMs += ms),
    send,
    /** The workspace's own resource, as an account gets it. */
    provisioned: () =>
      execute(
        {
          workspaceId,
          commandType: 'workspace.provision',
          idempotencyKey: newId('req'),
          subject: { type: 'workspaces', id: workspaceId },
          changes: { name: 'A', account_id: newId('acc') },
        },
        service('management'),
      ),
    setEncodingLimit: (ms: number | null) => saveEncodingLimit(pool, workspaceId, ms, Date.now() % 2_000_000_000),
    podcast: () => send('podcast.create', null, { title: 'Harbour Light', language: 'en' }),
    readyPodcast: () =>
      send('podcast.create', null, {
        title: 'Harbour Light',
        language: 'en',
        description: 'd',
        author: 'a',
        artwork_url: 'http://media.test/a.jpg',
        categories: ['Arts'],
      }),
    async publishedPodcast() {
      return send('podcast.publish', await world.readyPodcast(), {});
    },
    /** A podcast with a part that an encoder prepares. */
    async preparing(part: 'intro' | 'outro', podcast?: ResourceView) {
      const set = await send(`podcast.set_${part}`, podcast ?? (await world.podcast()), {
        file_url: (await world.upload()).attributes['file_url'],
      });
      return { podcast: set, lease: await world.lease('encode_segment', set.id) };
    },
    /** A podcast with a part that an encoder of an earlier release prepared. */
    async ready(part: 'intro' | 'outro') {
      const { podcast, lease } = await world.preparing(part);
      return send(`podcast.record_${part}`, podcast, { segment }, service('encoder'), lease);
    },
    /** A scheduled episode that has just become due; moves the service's clock forward. */
    async dueEpisode() {
      const episode = await world.playableEpisode();
      const publishAt = new Date(management.clock().getTime() + 60_000).toISOString();
      const scheduled = await send('episode.schedule', episode, { publish_at: publishAt });
      management.aheadMs += 61_000;
      return scheduled;
    },
    async episode() {
      return send('episode.create', null, { podcast_id: (await world.podcast()).id, title: 'One' });
    },
    async upload(
      filename = 'one.mp3',
      bytes: Buffer = Buffer.from('abc'),
      uploadType?: 'public' | 'private' | 'temporary',
    ) {
      const upload = await send('upload.grant', null, {
        filename,
        filesize: bytes.length,
        ...(uploadType && { upload_type: uploadType }),
      });
      await store.put(String(upload.attributes['storage_key']), bytes, {
        contentType: 'audio/mpeg',
        sizeBytes: bytes.length,
      });
      return upload;
    },
    /** An upload of two parts, of which none was sent. */
    partedUpload: () => send('upload.grant', null, { filename: 'long.mp3', filesize: 40_000_000 }),
    async production() {
      const episode = await world.episode();
      return send('production.create', null, {
        episode_id: episode.id,
        file_url: (await world.upload()).attributes['file_url'],
      });
    },
    async encoding() {
      await world.setEncodingLimit(hour);
      const production = await send('production.start', await world.production(), {});
      return { production, lease: await world.lease('encode_production', production.id) };
    },
    /** Claims jobs until one is the subject's. */
    async lease(kind: string, subjectId: string) {
      for (;;) {
        const held = leases.get(subjectId);
        leases.delete(subjectId);
        if (held) return held;
        const job = await claimJob(pool, [kind], 'worker', 30_000);
        if (!job) throw new Error(`no ${kind} job for ${subjectId}`);
        leases.set(job.subject_id, { job_id: job.id, lease_id: job.lease_id });
      }
    },
    completion: {
      files: [
        {
          role: 'rendition',
          format: 'mp3',
          stream_format: 'mp3/128000/48000/2',
          storage_key: `media/${digest}`,
          size_bytes: 384,
          sha256: digest,
          bitrate: 128_000,
          duration_ms: 24,
        },
      ],
      audio_duration_ms: 60_000,
      loudness: { input_lufs: -20, output_lufs: -16, true_peak_dbtp: -2 },
      silences: [
        [0, 400],
        [29_800, 30_200],
      ],
    },
    async encoded() {
      const { production, lease } = await world.encoding();
      return send('production.complete', production, world.completion, service('encoder'), lease);
    },
    /** An encoded production whose AAC track an encoder makes. */
    async trackEncoding() {
      const started = { track: 'a192' };
      const production = await send('production.start_track', await world.encoded(), started, service('management'));
      return { production, lease: await world.lease('encode_hls_audio', production.id) };
    },
    async playableEpisode() {
      const production = await world.encoded();
      return attach(String(production.attributes['episode_id']), production);
    },
    /** An episode of this podcast with an encoded production. */
    async audibleEpisode(podcast: ResourceView) {
      await world.setEncodingLimit(null);
      const episode = await send('episode.create', null, { podcast_id: podcast.id, title: 'One' });
      const created = await send('production.create', null, {
        episode_id: episode.id,
        file_url: (await world.upload()).attributes['file_url'],
      });
      const started = await send('production.start', created, {});
      const lease = await world.lease('encode_production', started.id);
      const production = await send('production.complete', started, world.completion, service('encoder'), lease);
      return attach(episode.id, production);
    },
  };
  return world;
}

export type HostingWorld = ReturnType<typeof createHosting>;
