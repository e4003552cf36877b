import { decisionTraceSchema, noAdReasons } from '@longwave/ad-decision';
import { productCatalog, type ProductResource } from '@longwave/command-catalog';
import { decideFor, type Asker, type Management } from '@longwave/hosting-client';
import { campaignRoles } from '@longwave/principal';
import { isProblem } from '@longwave/problems';
import { z } from 'zod';
import { permitRoles } from '../resource-routes.ts';
import { defineRoute } from '../route.ts';

/** Who may change the recording of an episode, or set its breaks; nobody else hears it before others do. */
const editors = [
  ...productCatalog.commands['production.revise'].roles,
  ...productCatalog.commands['episode.set_markers'].roles,
];

const label = z
  .string()
  .max(128)
  .refine((text) => !text.includes('\0'), { message: 'It must have no NUL.' })
  .optional();
const listener = z.strictObject({
  country: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .describe('ISO 3166-1 alpha-2.'),
  app: label.describe('As the lists of user agents name it, such as `Overcast`; absent for one that they do not know.'),
  device: label.describe('Its kind, such as `mobile`, `computer` or `smart_speaker`.'),
  operating_system: label.describe('As the lists name it, such as `iOS`.'),
  at: z.iso
    .datetime({ offset: true })
    .refine((text) => Date.parse(text) > 0, { message: 'It must be a time after 1970.' })
    .optional()
    .describe('When it is played; absent: now, as the goals of line items stand.'),
});

const span = { start_ms: z.int().min(0), duration_ms: z.int().min(0) };
const position = z.enum(['pre', 'mid', 'post']);

/** The timeline document of public-delivery. */
const timeline = z.strictObject({
  version: z.literal(1),
  preview: z.literal(true),
  duration_ms: z.int().min(0),
  parts: z.array(
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.enum(['intro', 'outro']), ...span }),
      z.strictObject({ kind: z.literal('content'), ...span, content_start_ms: z.int().min(0) }),
      z.strictObject({
        ...{ kind: z.literal('break'), ...span, key: z.string(), position },
        slots: z.array(z.strictObject({ slot: z.int().min(0), ...span })),
      }),
    ]),
  ),
});

const { candidates: tracedCandidates } = decisionTraceSchema.shape;

/** The decision as public-delivery tells it; what nobody here reads is dropped. */
const toldDecision = z.object({
  at: z.iso.datetime(),
  as_paced: z.boolean(),
  breaks: z.array(
    z.strictObject({
      ...{ key: z.string(), position, position_ms: z.int().min(0).describe('In the recording.') },
      ...{ max_slots: z.int().min(1), max_duration_ms: z.int().min(1) },
    }),
  ),
  picks: z.array(
    z.object({
      ...{ break_key: z.string(), slot: z.int().min(0) },
      ...{ campaign_id: z.string(), line_item_id: z.string(), creative_id: z.string() },
    }),
  ),
  no_ad_reason: z.enum([...noAdReasons, 'episode_without_ads']).nullable(),
  candidates: tracedCandidates,
});

const named = z.strictObject({ id: z.string(), name: z.string() }).nullable();
const candidate = tracedCandidates.element.omit({ line_item_id: true }).extend({ line_item: named });

const preview = z.strictObject({
  id: z.string(),
  expires_at: z.iso.datetime().describe('Then its addresses answer 410.'),
  audio_url: z.url().describe('The file as the listener would have it. A secret; hearing it is no download.'),
  timeline_url: z.url().describe('The document of `timeline`.'),
  timeline: timeline.describe('The parts of the file, in its milliseconds.'),
  at: toldDecision.shape.at,
  as_paced: z
    .boolean()
    .describe(
      'Whether line items with goals were held to what they may be given now; of another time than now their goals have room.',
    ),
  breaks: toldDecision.shape.breaks.describe('The breaks that were to be filled.'),
  ads: z
    .array(
      z.strictObject({
        ...{ break_key: z.string(), slot: z.int().min(0), advertiser: named, line_item: named, creative: named },
      }),
    )
    .describe('The ads of the file. Whoever does not see campaigns hears them without their names.'),
  no_ad_reason: toldDecision.shape.no_ad_reason.describe('Why a slot stayed empty.'),
  candidates: z
    .array(candidate)
    .nullable()
    .describe('What spoke for and against line items, for roles that see campaigns; null for others.'),
});
type Named = z.output<typeof named>;

/** Reads each named thing once, as the caller sees it; null for what the caller does not see. */
function namesFor(caller: Asker, { find }: Pick<Management, 'find'>) {
  const known = new Map<string, Promise<Named>>();

  /** @param read the thing itself; rejects with `not_found` for what the caller does not see */
  function once(id: string, read: () => Promise<Named>): Promise<Named> {
    const reading =
      known.get(id) ??
      read().catch((error: unknown) => {
        if (isProblem(error, 'not_found')) return null;
        throw error;
      });
    known.set(id, reading);
    return reading;
  }
  const see = async <T extends ProductResource>(type: T, id: string) =>
    (await find(caller, type, id, { includeHidden: true })).resource.attributes;
  return {
    lineItem: (id: string) => once(id, async () => ({ id, name: (await see('line_items', id)).name })),
    creative: (id: string) => once(id, async () => ({ id, name: (await see('creatives', id)).name })),
    advertiserOf: (campaignId: string) =>
      once(campaignId, async () => {
        const { advertiser_id: id } = await see('campaigns', campaignId);
        return { id, name: (await see('advertisers', id)).legal_name };
      }),
  };
}

/** POST /episodes/{id}/preview: a play that somebody tries who edits the episode. */
export const previewEpisode = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    operation: 'episodePreview',
    summary:
      'The episode as a listener would hear it, with its ads and why they are these. It is decided dry: no decision is stored, and no lease, cap, share or count changes. Kept for an hour; for those who may change the recording or set breaks.',
    object: { type: 'episodes', from: 'path', field: 'id' },
    permit: permitRoles(editors),
    body: listener,
    answer: { name: 'EpisodePreview', schema: preview },
    refusals: [503],
    run: async ({ caller, access, object, body }, { management, openPreview }) => {
      const { workspaceId } = access;
      const opened = await openPreview(
        {
          ...{ workspaceId, episodeId: object.id, country: body.country, app: body.app ?? '' },
          ...{ device: body.device ?? '', operatingSystem: body.operating_system ?? '' },
          atMs: body.at === undefined ? undefined : BigInt(Date.parse(body.at)),
        },
        { deadline: caller.deadline, deadlineMs: 12_000 },
      );
      const { picks, candidates, ...told } = toldDecision.parse(JSON.parse(opened.decisionJson));
      const seesCampaigns =
        decideFor(caller, { workspaceId, podcastId: undefined }, { roles: campaignRoles }).outcome === 'permitted';
      const names = namesFor(caller, management);
      const answer: z.output<typeof preview> = {
        id: opened.previewId,
        expires_at: new Date(Number(opened.expiresAtMs)).toISOString(),
        ...{ audio_url: opened.audioUrl, timeline_url: opened.timelineUrl },
        timeline: timeline.parse(JSON.parse(opened.timelineJson)),
        ...told,
        ads: await Promise.all(
          picks.map(async ({ break_key, slot, campaign_id, line_item_id, creative_id }) => ({
            ...{ break_key, slot, advertiser: await names.advertiserOf(campaign_id) },
            line_item: await names.lineItem(line_item_id),
            creative: await names.creative(creative_id),
          })),
        ),
        candidates: seesCampaigns
          ? await Promise.all(
              candidates.map(async ({ line_item_id, ...one }) => ({
                ...{ ...one, line_item: await names.lineItem(line_item_id) },
              })),
            )
          : null,
      };
      return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: answer };
    },
  });
