import {
  anyTargeting,
  defaultSeparation,
  type AdPicture,
  type AdTrack,
  type PlanLineItem,
  type PlanTargeting,
  type ServingPlanDocument,
} from '@longwave/events';
import type { AdBreak, Decision, DecisionContext } from '../src/index.ts';

const mp3 = 'mp3/128000/48000/2';

type PlanCreative = PlanLineItem['creatives'][number];

/** A creative as the cases write it: its length in the usual stream format. */
interface CaseCreative extends Partial<
  Pick<PlanCreative, 'weight' | 'sequence_no' | 'window' | 'place' | 'production' | 'categories'>
> {
  readonly creative_id: string;
  readonly duration_ms: number;
  readonly stream_format?: string;
  /** Loudnesses in which it is prepared; null for one that was not measured. Each stream's digest is its loudness. */
  readonly loudnesses?: readonly (number | null)[];
  /** How many of its streams, from the first on, have a track of HLS. */
  readonly tracks?: number;
  /** Whether it has pictures for HLS. */
  readonly pictures?: boolean;
}

/** The track of a stream, named by the stream's digest. */
const trackOf = (segmentDigest: string): AdTrack => ({
  ...{ codec: 'mp4a.40.2', digest: `track of ${segmentDigest}`, size_bytes: 1, duration_ms: 1 },
  ...{ index_digest: `index of ${segmentDigest}`, index_size_bytes: 1 },
});

/** The pictures of a creative, named by it. */
const picturesOf = (creativeId: string) =>
  (['v360', 'v720', 'v1080', 'iframe'] as const).map((name): AdPicture => ({
    ...trackOf(`${name} of ${creativeId}`),
    ...{ name, width: 16, height: 9, frame_rate: { frames: 25, seconds: 1 } },
  }));

/** A list stands for what it includes. */
type CaseLists = readonly string[] | { readonly include?: readonly string[]; readonly exclude?: readonly string[] };
type Listed = Exclude<keyof PlanTargeting, 'explicit' | 'episode_age_hours' | 'dayparts'>;
type CaseTargeting = { readonly [D in Listed]?: CaseLists } & Partial<Omit<PlanTargeting, Listed>>;

export type CaseLine = Partial<Omit<PlanLineItem, 'creatives' | 'targeting'>> & {
  readonly line_item_id: string;
  readonly creatives?: readonly CaseCreative[];
  readonly targeting?: CaseTargeting;
};

function targetingOf(given: CaseTargeting): PlanTargeting {
  const lists = Object.entries(given).map(([name, value]) => {
    if (Array.isArray(value)) return [name, { include: value, exclude: [] }];
    if (value !== null && typeof value === 'object' && ('include' in value || 'exclude' in value))
      return [name, { include: [], exclude: [], ...value }];
    return [name, value];
  });
  return { ...anyTargeting, ...Object.fromEntries(lists) };
}

function creativeOf({
  creative_id,
  duration_ms,
  stream_format = mp3,
  loudnesses = [-16],
  tracks = 0,
  pictures = false,
  ...given
}: CaseCreative): PlanCreative {
  return {
    creative_id,
    weight: 1,
    sequence_no: 1,
    window: null,
    place: 'any',
    production: 'produced',
    click_url: null,
    media: loudnesses.map((loudness_lufs, at) => ({
      stream_format,
      loudness_lufs,
      segment_digest: String(loudness_lufs),
      size_bytes: duration_ms * 16,
      duration_ms,
      ...(at < tracks && { hls: trackOf(String(loudness_lufs)) }),
    })),
    ...(pictures && { pictures: picturesOf(creative_id) }),
    ...given,
  };
}

/** A whole line item from the fields of a case; otherwise house, 30 s, any break, any listener, the year 2026. */
function lineItem({ creatives, targeting = {}, ...given }: CaseLine): PlanLineItem {
  return {
    campaign_id: `cmp_${given.line_item_id}`,
    advertiser_id: `adv_${given.line_item_id}`,
    type: 'house',
    priority: 5,
    window: { start: '2026-01-01T00:00:00Z', end: '2027-01-01T00:00:00Z' },
    goal: { unit: 'unlimited' },
    break_positions: ['pre', 'mid', 'post'],
    weight: 1,
    billable: given.type !== undefined && given.type !== 'house',
    cpm_micros: null,
    targeting: targetingOf(targeting),
    frequency_caps: [],
    separation_groups: [],
    ad_product_categories: [],
    creative_rotation: 'weighted',
    creatives: (creatives ?? [{ creative_id: `crv_${given.line_item_id}`, duration_ms: 30_000 }]).map(creativeOf),
    ...given,
  };
}

export function planOf(
  lines: readonly CaseLine[],
  given: Partial<Pick<ServingPlanDocument, 'separation' | 'floors'>> = {},
): ServingPlanDocument {
  return {
    format: 2,
    workspace_id: 'ws_1',
    effective_from: '2026-01-01T00:00:00Z',
    inputs: [],
    separation: defaultSeparation,
    floors: [],
    line_items: lines.map(lineItem),
    ...given,
  };
}

export const preroll: AdBreak = {
  key: 'pre',
  position: 'pre',
  maxSlots: 1,
  maxDurationMs: 60_000,
  positionMs: 0,
  slotRules: [],
};

export function contextOf(given: Partial<DecisionContext> = {}): DecisionContext {
  return {
    decisionId: 'dec_1',
    podcastId: 'pod_1',
    episodeId: 'ep_1',
    country: 'DE',
    region: '',
    surface: 'progressive',
    device: '',
    operatingSystem: '',
    app: '',
    language: 'en',
    explicit: false,
    contentCategories: [],
    publishedAtMs: Date.parse('2026-05-01T00:00:00Z'),
    loudnessLufs: -16,
    adLoadLimitMs: undefined,
    streamFormat: mp3,
    atMs: Date.parse('2026-06-01T12:00:00Z'),
    breaks: [preroll],
    ...given,
  };
}

/** What a decision gives and what it looked at, without what its trace says of others. */
export const outcomeOf = ({ picks, noAdReason, opportunities, policies, verdicts }: Decision) => ({
  ...{ picks, noAdReason, opportunities, policies },
  considered: verdicts.map((one) => [one.breakKey, [...one.considered], one.rest]),
});
