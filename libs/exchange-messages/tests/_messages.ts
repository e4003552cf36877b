import { rowsDigestOf, type MessageOf, type SchemaName } from '../src/index.ts';

const digest = `sha256:${'ab'.repeat(32)}`;
const authorityId = `agr_${'0'.repeat(26)}`;
export const retiredKid = `key_${'1'.repeat(26)}`;
export const signerKid = `key_${'2'.repeat(26)}`;

const shared = {
  workspace_id: `ws_${'0'.repeat(26)}`,
  authority_id: authorityId,
  stream_id: 'show:1234',
  seq: 2,
  prev: digest,
  event_id: '0199c0de-1234-7abc-8def-0123456789ab',
  issued_at: '2026-11-22T10:00:00Z',
};

const subject = <T extends string>(type: T, sourceId: string) =>
  ({ type, source_id: sourceId, source_version: 3 }) as const;

const rows = [
  {
    source_id: 'ep-1',
    at: '2026-11-01T00:00:00Z',
    downloads: 10,
    plays: 8,
    listeners: 6,
    completes: 4,
    impressions: 2,
  },
  { source_id: 'ep-1', at: '2026-11-02T00:00:00Z', revenue_micros: '-18500000' },
];

/** One message of each schema in which every member stands that it may have, but `rows_url`. */
export const examples: { readonly [S in SchemaName]: MessageOf<S> } = {
  'content-snapshot/1': {
    ...shared,
    schema: 'content-snapshot/1',
    subject: subject('episode', 'ep-1'),
    body: {
      episode: {
        guid: 'https://example.com/?p=1',
        title_ref: 'One',
        duration_ms: 1_800_000,
        explicit: false,
        language: 'pt-BR',
        content_categories: ['IAB1-6'],
        published_at: '2026-11-20T06:00:00+01:00',
        audio_master: {
          ...{ url: 'https://example.com/one.wav', digest, bytes: 317_520_044, codec: 'wav', bitrate: 1_411_200 },
          ...{ channels: 2, sample_rate: 44_100 },
        },
        video_master: {
          ...{ url: 'https://example.com/one.mp4', digest, bytes: 1_000_000_000, codec: 'h264' },
          ...{ width: 1920, height: 1080 },
        },
        captions: [{ lang: 'pt', url: 'https://example.com/pt.vtt', digest }],
        chapters: [
          { start_ms: 0, title: 'Opening' },
          {
            ...{ start_ms: 60_000, title: 'Interview', url: 'https://example.com/guest' },
            ...{ img: 'https://example.com/guest.jpg', toc: false },
          },
        ],
        markers: [
          { key: 'pre', position_ms: 0, kind: 'pre', max_slots: 2 },
          { key: 'mid-1', position_ms: 900_000, kind: 'mid' },
        ],
        no_ads: false,
        rights: { territories: ['DE', 'PT'], until: '2030-01-01T00:00:00Z' },
      },
      show: { title: 'A show', language: 'pt' },
      x: { 'our-field': [1, { nested: 'yes' }] },
    },
  },
  'content-revocation/1': {
    ...shared,
    schema: 'content-revocation/1',
    subject: subject('episode', 'ep-1'),
    body: { revoke_version: 2, mode: 'stop_all', cause: 'A court order.', effective_at: '2026-11-22T10:00:00Z' },
  },
  'surface-capability/1': {
    ...shared,
    schema: 'surface-capability/1',
    subject: subject('surface', 'ios-app'),
    body: {
      ...{ surface_id: 'ios-app', protocols: ['progressive', 'hls'], interstitials: 'asset_list', ranges: true },
      ...{ max_redirects: 5, ads_video: false, client_events: 'post', measurement: 'client_event' },
      ...{ personalisation: 'per_session', offline_audio: true, apple_profile: true },
      valid_until: '2027-11-22T10:00:00Z',
    },
  },
  'delivery-alias/1': {
    ...shared,
    schema: 'delivery-alias/1',
    subject: subject('alias', 'one-ios'),
    body: {
      ...{ alias: 'one-ios', host: 'example-host', path_slug: 'Show.One_1~a' },
      target: { type: 'episode', source_id: 'ep-1' },
      route_policy: { surface_id: 'ios-app', route: 'platform_controlled', when_unavailable: 'source' },
      ...{ state: 'active', supersedes_version: 2 },
    },
  },
  'platform-evidence/1': {
    ...shared,
    schema: 'platform-evidence/1',
    subject: subject('evidence', 'report-2026-11'),
    body: {
      ...{ source_label: 'partner dashboard', platform: 'ExamplePods', kind: 'revenue', granularity: 'day' },
      period: { start: '2026-11-01T00:00:00Z', end: '2026-12-01T00:00:00Z' },
      ...{ revision: 1, rows_digest: rowsDigestOf(rows), rows, currency: 'EUR', finality: 'final' },
      method_note: 'Counted by the platform.\nWithout bots.',
      x: {},
    },
  },
  'authority-rotation/1': {
    ...shared,
    schema: 'authority-rotation/1',
    subject: subject('authority', authorityId),
    body: {
      ...{ retire_kid: retiredKid, successor_kid: signerKid, cause: 'Yearly change.' },
      overlap_until: '2026-12-22T10:00:00Z',
    },
  },
};

/** The same value with one member replaced, added, or removed when `value` is undefined. `path` is a JSON Pointer without escapes. */
export function changed(value: unknown, path: string, replacement: unknown): unknown {
  const copy = structuredClone(value);
  const segments = path.split('/').slice(1);
  const last = segments.pop()!;
  const parent = segments.reduce((inner, name) => (inner as Record<string, unknown>)[name], copy) as Record<
    string,
    unknown
  >;
  if (replacement === undefined) delete parent[last];
  else parent[last] = replacement;
  return copy;
}

/** JSON Pointers of all values in a value, each before the values in it; nothing under `x`. */
export function pathsIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null || path.endsWith('/x')) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, `${path}/${name}`))];
}

export const valueAt = (value: unknown, path: string): unknown =>
  path
    .split('/')
    .slice(1)
    .reduce((inner, name) => (inner as Record<string, unknown>)[name], value);
