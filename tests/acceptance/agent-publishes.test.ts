import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeAudio, until } from '@longwave/test-kit';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { hostingWorldOf, publishedPodcast, type HostingWorld } from '../_hosting-world.ts';
import { openSharedInstallation } from '../_shared-installation.ts';

let world: HostingWorld;
beforeAll(async () => {
  world = hostingWorldOf(await openSharedInstallation());
}, 120_000);
afterAll(async () => world?.[Symbol.asyncDispose]());

/** An agent with a token of the account. */
async function connectAgent(token: string) {
  const client = new Client({ name: 'an agent', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${world.fleet.urls.mcp}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    }),
  );
  return {
    /** The structured content of a call that succeeds. */
    call: async <T>(name: string, args: object): Promise<T> => {
      const { isError, structuredContent } = await client.callTool({ name, arguments: { ...args } });
      if (isError) throw new Error(`${name}: ${JSON.stringify(structuredContent)}`);
      return structuredContent as T;
    },
    read: async (uri: string): Promise<string> => {
      const [content] = (await client.readResource({ uri })).contents;
      return content && 'text' in content ? content.text : '';
    },
    close: () => client.close(),
  };
}

interface Episode {
  readonly episode: { readonly id: string; readonly state: string; readonly version: number };
}
interface Operation {
  readonly state: string;
  readonly progress: number | null;
}

const vtt = 'WEBVTT\n\n00:00:00.500 --> 00:00:02.000\nGood morning\n';

test('an agent sends a file, encodes it, follows the progress, and publishes the episode with it; feed and transcript are its resources', async () => {
  const account = await world.account('agent');
  const podcastId = await publishedPodcast(account.rest, 'Told by an agent');
  const agent = await connectAgent((await world.credential(account, 'mcp_personal_token')).text);
  const { episode } = await agent.call<Episode>('create_episode', { podcast_id: podcastId, title: 'First watch' });
  await agent.call('update_episode', {
    ...{ episode_id: episode.id, expected_version: episode.version },
    changes: { transcripts: [{ language: 'en', format: 'vtt', content: vtt }] },
  });

  const file = readFileSync(makeAudio(path.join(world.folder, 'watch.mp3'), 120));
  const upload = await agent.call<{ upload_id: string; upload_url: string; content_type: string }>('create_upload', {
    ...{ filename: 'watch.mp3', filesize: file.length },
  });
  const headers = { 'content-type': upload.content_type };
  expect((await fetch(upload.upload_url, { method: 'PUT', headers, body: file })).status).toBe(200);
  await agent.call('complete_upload', { upload_id: upload.upload_id });
  const { production } = await agent.call<{ production: { id: string } }>('create_production', {
    ...{ episode_id: episode.id, upload_id: upload.upload_id },
  });
  const { operation_id } = await agent.call<{ operation_id: string }>('control_production', {
    ...{ production_id: production.id, action: 'start', publish_when_done: true },
  });

  const progress: number[] = [];
  await until('the encoding', async () => {
    const operation = await agent.call<Operation>('get_operation', { operation_id });
    if (operation.progress !== null) progress.push(operation.progress);
    return operation.state === 'succeeded';
  });
  expect(progress.some((one) => one > 0 && one < 1)).toBe(true);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  await until('the publication', async () => {
    const shown = await agent.call<Episode>('get_episode', { episode_id: episode.id });
    return shown.episode.state === 'published';
  });

  const feed = await until('the episode in the feed', async () => {
    const text = await agent.read(`podcast:///${podcastId}/feed.xml`);
    return text.includes('First watch') && text;
  });
  expect(feed).toMatch(/<enclosure url="[^"]+" length="\d+" type="audio\/mpeg"/);
  expect(await agent.read(`episode:///${episode.id}/transcript`)).toContain('Good morning');
  await agent.close();
});
