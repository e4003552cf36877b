/** vast-client, a player's reader with an XML parser of its own, reads the same. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { VASTClient } from '@dailymotion/vast-client';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { beginWalk, parseVast, renderVast, walkWrappers, type InlineAd, type WalkStep } from '../src/index.ts';
import { anyAnswer, answerOf, audioAd, videoAd } from './_answers.ts';

interface ReadByVastClient {
  readonly ads: readonly {
    readonly id: string | null;
    readonly adType: string | null;
    readonly title: string | null;
    readonly adServingId: string | null;
    readonly impressionURLTemplates: readonly { readonly url: string }[];
    readonly errorURLTemplates: readonly string[];
    readonly creatives: readonly {
      readonly type: string;
      readonly duration?: number;
      readonly mediaFiles?: readonly {
        readonly fileURL: string;
        readonly mimeType: string;
        readonly apiFramework: string | null;
      }[];
      readonly trackingEvents?: Readonly<Record<string, readonly string[]>>;
      readonly videoClickThroughURLTemplate?: { readonly url: string } | null;
    }[];
  }[];
}

const dataUrl = (document: string) => `data:application/xml;base64,${Buffer.from(document).toString('base64')}`;

/** What vast-client reads; addresses that it would fetch are looked up in `documents`. */
async function readByVastClient(document: string, documents: Readonly<Record<string, string>> = {}) {
  const client = new VASTClient();
  client.addURLTemplateFilter((url: string) => (url.startsWith('data:') ? url : dataUrl(documents[url] ?? '')));
  return (await client.get(dataUrl(document))) as ReadByVastClient;
}

const linearOf = (ad: ReadByVastClient['ads'][number]) => ad.creatives.find(({ type }) => type === 'linear');

/** Facts that both readers have, in one form. */
const ofVastClient = ({ ads }: ReadByVastClient) =>
  ads.map((ad) => ({
    id: ad.id,
    title: ad.title,
    durationMs: Math.round((linearOf(ad)?.duration ?? 0) * 1000),
    media: linearOf(ad)
      ?.mediaFiles?.filter(({ apiFramework, fileURL }) => !apiFramework && fileURL.startsWith('https:'))
      .map(({ fileURL }) => fileURL),
    impressions: ad.impressionURLTemplates.map(({ url }) => url).filter((url) => url.startsWith('https:')),
    completes: (linearOf(ad)?.trackingEvents?.['complete'] ?? []).filter((url) => url.startsWith('https:')),
    errors: ad.errorURLTemplates.filter((url) => url.startsWith('https:')),
  }));
const ofOurs = (ads: readonly InlineAd[]) =>
  ads.map((ad) => {
    const called = (event: string) => ad.trackers.flatMap((tracker) => (tracker.event === event ? [tracker.url] : []));
    return {
      id: ad.id ?? null,
      title: ad.title ?? null,
      durationMs: ad.durationMs,
      media: ad.mediaFiles.map(({ url }) => url),
      ...{ impressions: called('impression'), completes: called('complete'), errors: called('error') },
    };
  });
const inOrder = (ads: readonly InlineAd[]) => ads.toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0));

test('what is answered is read by vast-client with the same facts', async () => {
  const answers = [answerOf(audioAd, videoAd), ...fc.sample(anyAnswer, { numRuns: 50, seed: 7 })];
  for (const { ads } of answers) {
    // Ids and titles of one line: vast-client keeps white space as it comes.
    const plain = answerOf(
      ...ads.map((ad, n) => ({ ...ad, servingId: `srv_${n}`, creativeId: `crt_${n}`, title: `Ad ${n}` })),
    );
    const document = renderVast(plain);
    const read = await readByVastClient(document);
    const ours = parseVast(Buffer.from(document));
    expect(ofVastClient(read)).toEqual(ours.kind === 'inline' ? ofOurs(ours.ads) : []);
    for (const [index, ad] of read.ads.entries()) {
      expect(ad).toMatchObject({ adType: plain.ads[index]!.adType, adServingId: `srv_${index}` });
      expect(linearOf(ad)?.videoClickThroughURLTemplate?.url).toBe(plain.ads[index]!.clickThroughUrl);
    }
  }
});

const folder = path.join(import.meta.dirname, 'documents');
// vast-client does not take a prefix.
test.each(['vast-2.0-inline.xml', 'vast-3.0-pod.xml', 'vast-3.0-empty.xml'])(
  '%s is read as vast-client reads it',
  async (name) => {
    const document = readFileSync(path.join(folder, name), 'utf8');
    const ours = parseVast(Buffer.from(document));
    const theirs = ofVastClient(await readByVastClient(document));
    expect(theirs).toEqual(ours.kind === 'inline' ? ofOurs(inOrder(ours.ads)) : []);
  },
);

test('a chain of two wrappers ends at the same ad with the same impressions and error addresses', async () => {
  const wrapper = (name: string, to: string) =>
    `<VAST version="4.2"><Ad><Wrapper allowMultipleAds="true"><Error>https://${name}.example/error</Error><Impression>https://${name}.example/impression</Impression><VASTAdTagURI>${to}</VASTAdTagURI></Wrapper></Ad></VAST>`;
  const documents: Readonly<Record<string, string>> = {
    'https://a.example/tag': wrapper('a', 'https://b.example/tag'),
    'https://b.example/tag': wrapper('b', 'https://c.example/tag'),
    'https://c.example/tag': renderVast(answerOf(audioAd)),
  };
  let step: WalkStep = { kind: 'fetch', url: 'https://a.example/tag', walk: beginWalk('https://a.example/tag') };
  while (step.kind === 'fetch') step = walkWrappers(step.walk, parseVast(Buffer.from(documents[step.url]!)));
  const ours = step.kind === 'done' ? ofOurs(step.ads) : [];
  const theirs = ofVastClient(await readByVastClient(documents['https://a.example/tag']!, documents));
  // vast-client names the innermost first.
  const sorted = (ads: typeof theirs) =>
    ads.map((ad) => ({ ...ad, impressions: ad.impressions.toSorted(), errors: ad.errors.toSorted() }));
  expect(ours[0]!.impressions).toHaveLength(3);
  expect(sorted(theirs)).toEqual(sorted(ours));
});

/** A folder with the repository VAST_Samples of IAB Tech Lab in `samples`. Its licence does not allow a copy here. */
const samples = path.join(process.env['TEST_IAB_VAST'] ?? '', 'samples');
if (process.env['TEST_IAB_VAST'] && existsSync(samples))
  describe('the samples of IAB Tech Lab', () => {
    test.each(globSync('**/*.xml', { cwd: samples }))('%s', async (name) => {
      const document = readFileSync(path.join(samples, name), 'utf8');
      const ours = parseVast(Buffer.from(document));
      if (ours.kind === 'refused') expect(ours.code).not.toBe(100);
      if (ours.kind !== 'inline') return;
      expect(ofVastClient(await readByVastClient(document))).toEqual(ofOurs(inOrder(ours.ads)));
    });
  });
