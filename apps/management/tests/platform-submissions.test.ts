import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findResource, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { deliveryContract } from '@longwave/services';
import { RetryLater } from '../src/background/job-runner.ts';
import { appleAccess } from '../src/hosting/platforms/apple-podcasts.ts';
import { refreshSubmission } from '../src/hosting/platforms/refresh-submission.ts';
import { executeAsManagement } from '../src/background/execute-as-management.ts';
import { startApple, type Apple } from './_apple.ts';
import { draftSubmission, shownEpisode } from './_examples-platforms.ts';
import { refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { submissionsOf } from './_submissions.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
let apple: Apple;
beforeAll(async () => {
  [management, apple] = await Promise.all([startTestManagement(), startApple()]);
});
afterAll(async () => {
  await management[Symbol.asyncDispose]();
  await apple[Symbol.asyncDispose]();
});
const presentation = {
  digest: 'd'.repeat(64),
  url: 'http://media.test/delivery/v1/e/t1.x/one.m3u8',
  hasPictures: true,
};
beforeEach(async () => {
  // A test that failed leaves nothing to the next one.
  await management.pool.query(`update job set state = 'stopped' where kind = 'ask_platform'`);
  apple.manners.length = 0;
  management.apple = appleAccess(apple.settings);
  Object.assign(management, { presentation, contract: deliveryContract });
  apple.state = 'PENDING';
  apple.asked.length = 0;
});

const { end, work, read, stateOf, operationOf, send, follow } = submissionsOf(
  () => management,
  () => apple,
);

/** A submission that was submitted, with this manner of the platform. */
async function submittedAs(manner: Apple['manners'][number] = 'take', limitMs?: number) {
  const w = createWorld(management);
  const submission = await draftSubmission(w);
  await send(w, submission, 'submit');
  apple.manners.push(manner);
  await work(undefined, limitMs);
  return { w, submission };
}

describe('a submission', () => {
  test.each([
    ['PENDING', 'submitted'],
    ['ACCEPTED', 'accepted'],
  ] as const)(
    'that the platform takes as %s is %s, with its receipt in operation and history',
    async (state, expected) => {
      apple.state = state;
      const { w, submission } = await submittedAs();
      const { lifecycle_state, attributes } = await read(w, submission);
      expect(lifecycle_state).toBe(expected);
      const { id: externalId } = apple.held.get(submission.id)!;
      expect(attributes).toMatchObject({
        ...{ external_id: externalId, playlist_url: presentation.url, presentation_sha256: presentation.digest },
        ...{ ambiguity: 'none', external_receipt: { action: 'submit', id: 'req-1', status: 201 } },
      });
      expect(attributes.external_receipt?.sent_sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(await operationOf(submission, 'submit')).toMatchObject({
        state: 'succeeded',
        provider: { external_receipt: 'req-1', ambiguity: 'none' },
      });
      expect(apple.asked).toMatchObject([{ key: submission.id, what: 'POST /v1/hostedVideoSubmissions' }]);
    },
  );

  test('that the platform refuses is rejected with the platform’s own words, and the next one is a new submission', async () => {
    const { w, submission } = await submittedAs('refuse');
    expect(await stateOf(w, submission)).toEqual(['rejected', 'none', 'provider_rejected']);
    expect((await read(w, submission)).attributes.problem?.detail).toBe(apple.reason);
    expect(await operationOf(submission, 'submit')).toMatchObject({
      state: 'failed',
      ...{ problem: { code: 'provider_rejected' }, provider: { ambiguity: 'none' } },
    });
    const episode = { id: String(submission.attributes['episode_id']) } as ResourceView;
    expect((await draftSubmission(w, episode)).id).not.toBe(submission.id);
  });

  test.each(['silence', 'error', 'garbage', 'cut'] as const)(
    'whose answer is lost by %s is ambiguous, is never sent again, and a refresh finds it',
    async (manner) => {
      const { w, submission } = await submittedAs(manner, manner === 'silence' ? 500 : undefined);
      expect(await stateOf(w, submission)).toEqual(['ambiguous', 'unknown', 'provider_outcome_unknown']);
      expect(await operationOf(submission, 'submit')).toMatchObject({
        state: 'failed',
        ...{ problem: { code: 'provider_outcome_unknown' }, provider: { ambiguity: 'unknown' } },
      });
      expect((await refusalOf(send(w, submission, 'submit'))).code).toBe('state_not_allowed');
      expect((await refusalOf(send(w, submission, 'discard'))).code).toBe('state_not_allowed');
      await send(w, submission, 'refresh');
      await work();
      expect(await stateOf(w, submission)).toEqual(['submitted', 'none', undefined]);
      expect((await operationOf(submission, 'refresh')).state).toBe('succeeded');
      expect(apple.asked.filter(({ what }) => what.startsWith('POST'))).toHaveLength(1);
    },
  );

  test('that turns out to be unknown to the platform is submitted again under the same key', async () => {
    const { w, submission } = await submittedAs('fail');
    expect(await stateOf(w, submission)).toEqual(['ambiguous', 'unknown', 'provider_outcome_unknown']);
    await send(w, submission, 'refresh');
    await work();
    expect(await stateOf(w, submission)).toEqual(['ambiguous', 'none', undefined]);
    await send(w, submission, 'submit');
    await work();
    expect(await stateOf(w, submission)).toEqual(['submitted', 'none', undefined]);
    const keys = apple.asked.flatMap(({ what, key }) => (what.startsWith('POST') ? [key] : []));
    expect(keys).toEqual([submission.id, submission.id]);
  });

  test('that the platform has already, from an attempt that nobody heard of, is found as a duplicate and not made twice', async () => {
    const w = createWorld(management);
    const submission = await draftSubmission(w);
    apple.held.set(submission.id, {
      ...{ id: 'hvs-early', externalKey: submission.id, playlistUrl: presentation.url, state: 'ACCEPTED' },
    });
    await send(w, submission, 'submit');
    await work();
    expect((await read(w, submission)).attributes).toMatchObject({ external_id: 'hvs-early', ambiguity: 'none' });
    expect(await stateOf(w, submission)).toEqual(['accepted', 'none', undefined]);
  });

  test('whose answer speaks of another one is conflicting', async () => {
    const { w, submission } = await submittedAs('stranger');
    expect(await stateOf(w, submission)).toEqual(['ambiguous', 'conflicting', 'provider_outcome_unknown']);
  });

  test('whose worker is killed between sending and recording is ambiguous, and the next worker sends nothing', async () => {
    const w = createWorld(management);
    const submission = await draftSubmission(w);
    await send(w, submission, 'submit');
    const killed: ExecuteCommand = async (request, actor) => {
      if (request.commandType === 'platform_submission.record') throw new Error('killed');
      return management.execute(request, actor);
    };
    await expect(work(killed)).rejects.toThrow('killed');
    await end();
    await work();
    expect(await stateOf(w, submission)).toEqual(['ambiguous', 'unknown', 'provider_outcome_unknown']);
    expect(apple.asked).toHaveLength(1);
    await send(w, submission, 'refresh');
    await work();
    expect(await stateOf(w, submission)).toEqual(['submitted', 'none', undefined]);
  });

  test('that the platform cannot take now is sent again no earlier than it asks, by the same job', async () => {
    const w = createWorld(management);
    const submission = await draftSubmission(w);
    await send(w, submission, 'submit');
    apple.manners.push('busy');
    const later = await work().catch((error: unknown) => error);
    expect(later).toBeInstanceOf(RetryLater);
    expect((later as RetryLater).afterMs).toBeGreaterThanOrEqual(7_000);
    expect(await stateOf(w, submission)).toEqual(['submitting', 'none', 'platform_unavailable']);
    await end();
    await work();
    expect(await stateOf(w, submission)).toEqual(['submitted', 'none', undefined]);
  });

  test('at an address that nobody listens at is sent again: nothing was taken', async () => {
    const w = createWorld(management);
    const submission = await draftSubmission(w);
    await send(w, submission, 'submit');
    management.apple = appleAccess({ ...apple.settings, APPLE_PODCASTS_URL: 'http://127.0.0.1:1' });
    await expect(work()).rejects.toBeInstanceOf(RetryLater);
    expect(await stateOf(w, submission)).toEqual(['submitting', 'none', 'platform_unavailable']);
    await end();
    management.apple = appleAccess(apple.settings);
    await work();
    expect(await stateOf(w, submission)).toEqual(['submitted', 'none', undefined]);
  });

  test('under a key that the platform does not know, or that cannot be read, is a draft again', async () => {
    for (const wrong of [{ APPLE_PODCASTS_KEY_ID: 'K2' }, { APPLE_PODCASTS_KEY_FILE: '/nowhere.p8' }]) {
      const w = createWorld(management);
      const submission = await draftSubmission(w);
      management.apple = appleAccess({ ...apple.settings, ...wrong });
      await send(w, submission, 'submit');
      await work();
      expect(await stateOf(w, submission)).toEqual(['draft', 'none', 'platform_not_configured']);
      expect((await operationOf(submission, 'submit')).state).toBe('failed');
    }
  });

  test('leaves neither the key nor a token in anything that is stored', async () => {
    const { w, submission } = await submittedAs();
    const tables = ['resource', 'revision', 'operation', 'receipt', 'outbox', 'job', 'idempotency_record'];
    for (const table of tables) {
      const { rows } = await management.pool.query<{ text: string }>(`select t::text as text from ${table} t`);
      const text = rows.map((row) => row.text).join('\n');
      for (const secret of [apple.asked[0]!.token, apple.pem.split('\n')[1]!]) expect(text).not.toContain(secret);
    }
    expect(await stateOf(w, submission)).toEqual(['submitted', 'none', undefined]);
  });

  test('is there once for an episode and a platform, and ends by being discarded while nothing was sent', async () => {
    const w = createWorld(management);
    const episode = await shownEpisode(w);
    const submission = await draftSubmission(w, episode);
    expect((await refusalOf(draftSubmission(w, episode))).code).toBe('value_taken');
    await send(w, submission, 'discard');
    expect((await draftSubmission(w, episode)).lifecycle_state).toBe('draft');
  });

  test('of an episode of another workspace is refused as that of a missing one', async () => {
    const episode = await shownEpisode(createWorld(management));
    const stranger = createWorld(management);
    const refused = await refusalOf(draftSubmission(stranger, episode));
    const missing = await refusalOf(draftSubmission(stranger, { ...episode, id: newId('ep') }));
    expect([refused.code, missing.code]).toEqual(['link_not_found', 'link_not_found']);
  });
});

describe('submitting is refused with what to do', () => {
  const drafted = async (settings?: object) => {
    const w = createWorld(management);
    const episode = await shownEpisode(w, settings);
    return { w, episode, submission: await draftSubmission(w, episode) };
  };
  const refusal = async ({ w, submission }: Awaited<ReturnType<typeof drafted>>) => {
    const { code, message } = await refusalOf(send(w, submission, 'submit'));
    expect(apple.asked).toHaveLength(0);
    return [code, message];
  };

  test('while this installation has no access, naming the settings; the draft says so from the beginning', async () => {
    management.apple = appleAccess({ APPLE_PODCASTS_URL: apple.origin });
    const draft = await drafted();
    const detail =
      'This installation has no access to Apple Podcasts. Its operator sets APPLE_PODCASTS_ISSUER_ID, APPLE_PODCASTS_KEY_ID, APPLE_PODCASTS_KEY_FILE of management.';
    expect(draft.submission.attributes['problem']).toEqual({ code: 'platform_not_configured', detail });
    expect(await refusal(draft)).toEqual(['platform_not_configured', detail]);
  });

  test('while the capability is not current', async () => {
    const draft = await drafted();
    for (const contract of [
      { ...deliveryContract, status: 'deprecated' as const },
      {
        ...deliveryContract,
        surfaces: deliveryContract.surfaces.map((each) => ({ ...each, status: 'deprecated' as const })),
      },
      {
        ...deliveryContract,
        surfaces: deliveryContract.surfaces.map((each) => ({ ...each, media: ['audio' as const] })),
      },
    ]) {
      management.contract = contract;
      expect((await refusal(draft))[0]).toBe('capability_not_supported');
    }
  });

  test('while the podcast has no video', async () => {
    expect(await refusal(await drafted({ hls_video: false }))).toEqual([
      'presentation_not_ready',
      'The podcast has hls_video switched off.',
    ]);
  });

  test('while the episode has no presentation, or one of sound alone', async () => {
    const draft = await drafted();
    for (const current of [undefined, { ...presentation, hasPictures: false }]) {
      management.presentation = current;
      expect((await refusal(draft))[0]).toBe('presentation_not_ready');
    }
  });

  test('while the episode is not published', async () => {
    const draft = await drafted();
    await draft.w.send('episode.unpublish', draft.episode, {});
    expect(await refusal(draft)).toEqual(['presentation_not_ready', 'The episode is not published.']);
  });
});

describe('afterwards', () => {
  test('the clock asks for what was submitted, and records what the platform has decided', async () => {
    const { w, submission } = await submittedAs();
    const { refresh_at: at } = (await read(w, submission)).attributes;
    const due = (now: Date) => refreshSubmission.findDue(management.pool, now, 1_000);
    const ids = async (now: Date) => (await due(now)).map(({ id }) => id);
    expect(await ids(new Date(Date.parse(at!) - 1))).not.toContain(submission.id);
    expect(await ids(new Date(at!))).toContain(submission.id);
    apple.held.get(submission.id)!.state = 'REJECTED';
    await executeAsManagement(
      management.execute,
      { workspaceId: w.workspaceId, idempotencyKey: newId('req'), process: 'system:clock' },
      { type: 'platform_submission.refresh', id: submission.id, changes: {} },
    );
    expect(await ids(new Date('2100-01-01'))).not.toContain(submission.id);
    await work();
    expect(await stateOf(w, submission)).toEqual(['rejected', 'none', 'provider_rejected']);
    expect((await operationOf(submission, 'refresh')).state).toBe('succeeded');
  });

  test('a refresh that cannot be read changes nothing and is due again', async () => {
    const { w, submission } = await submittedAs('cut');
    await send(w, submission, 'refresh');
    apple.manners.push('fail');
    await work();
    expect(await stateOf(w, submission)).toEqual(['ambiguous', 'unknown', 'provider_outcome_unknown']);
    expect((await operationOf(submission, 'refresh')).state).toBe('failed');
    expect((await read(w, submission)).attributes.refresh_at).toBeDefined();
  });

  test('a withdrawal is withdrawn once the platform says so', async () => {
    const { w, submission } = await submittedAs();
    await send(w, submission, 'withdraw', { cause: 'The show has ended.' });
    expect((await refusalOf(send(w, submission, 'withdraw', { cause: 'Again.' }))).code).toBe('state_not_allowed');
    await work();
    expect(await stateOf(w, submission)).toEqual(['withdrawn', 'none', undefined]);
    expect((await operationOf(submission, 'withdraw')).state).toBe('succeeded');
    expect(apple.held.get(submission.id)?.state).toBe('WITHDRAWN');
  });

  test('a withdrawal whose answer is lost is ambiguous, and a refresh finds that it was taken', async () => {
    const { w, submission } = await submittedAs();
    await send(w, submission, 'withdraw', { cause: 'The show has ended.' });
    apple.manners.push('garbage');
    await work();
    expect(await stateOf(w, submission)).toEqual(['ambiguous', 'unknown', 'provider_outcome_unknown']);
    await send(w, submission, 'refresh');
    await work();
    expect(await stateOf(w, submission)).toEqual(['withdrawn', 'none', undefined]);
  });

  test.each(['episode.unpublish', 'podcast.unpublish', 'hls_video'] as const)(
    'a platform is asked to forget it when %s takes the episode away here',
    async (change) => {
      const w = createWorld(management);
      const episode = await shownEpisode(w);
      const submission = await draftSubmission(w, episode);
      await send(w, submission, 'submit');
      await work();
      const podcastId = String(episode.attributes['podcast_id']);
      const podcast = (await findResource(management.pool, w.workspaceId, 'podcasts', podcastId))!;
      if (change === 'episode.unpublish') await w.send(change, episode, {});
      else {
        const subject = { resource_type: 'podcasts', id: podcastId, version: podcast.version };
        if (change === 'hls_video') await w.send('podcast.revise', subject, { hls_video: false });
        else await w.send(change, subject, {});
      }
      await follow(w);
      expect((await read(w, submission)).attributes.withdrawal?.cause).toMatch(/not published|switched off/);
      await work();
      expect(await stateOf(w, submission)).toEqual(['withdrawn', 'none', undefined]);
    },
  );

  test('an episode that is taken away while it is being submitted is taken back when the platform has answered', async () => {
    const w = createWorld(management);
    const episode = await shownEpisode(w);
    const submission = await draftSubmission(w, episode);
    await send(w, submission, 'submit');
    await w.send('episode.unpublish', episode, {});
    await follow(w);
    await work();
    await follow(w);
    await work();
    expect(await stateOf(w, submission)).toEqual(['withdrawn', 'none', undefined]);
  });
});

test('a withdrawal waits while the workspace has 20 requests to platforms that have not ended', async () => {
  const { w, submission } = await submittedAs();
  await management.pool.query(
    `insert into job (id, kind, workspace_id, subject_type, subject_id, subject_version, state, input, created_at, work_class, expected_ms)
     select id || n, kind, workspace_id, subject_type, 'another', subject_version, 'queued', input, created_at, work_class, expected_ms
     from job, generate_series(1, 20) n where kind = 'ask_platform' and subject_id = $1`,
    [submission.id],
  );
  expect(await refusalOf(send(w, submission, 'withdraw', { cause: 'Over.' }))).toMatchObject({ code: 'rate_limited' });
});
