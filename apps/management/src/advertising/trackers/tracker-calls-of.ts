import { createHash } from 'node:crypto';
import type { Attributes } from '@longwave/command-catalog';
import type { MacroContext } from '@longwave/vast';

/** Something that was counted of a serving, as analytics-sink tells it. */
export interface ServingEvent {
  /** “impression” for an ad that the ledger counts as delivered; else what a player reported. */
  readonly event: string;
  readonly countedAt: Date;
  readonly servingId: string;
  readonly workspaceId: string;
  readonly campaignId: string;
  readonly lineItemId: string;
  readonly creativeId: string;
  /** Where the ad is in the episode, without ads; absent where nobody told it. */
  readonly playheadMs?: number | undefined;
  readonly breakPosition?: MacroContext['breakPosition'];
}

/** A resource of a workspace, as far as trackers need it. */
export interface Tracked<A> {
  readonly id: string;
  readonly workspaceId: string;
  readonly attributes: A;
}

/** What is known of the events' subjects; all by id. */
export interface TrackedSubjects {
  /** Active ones whose scope is one of the subjects. */
  readonly endpoints: readonly Tracked<Attributes<'tracking_endpoints'>>[];
  readonly campaigns: ReadonlyMap<string, Tracked<Pick<Attributes<'campaigns'>, 'advertiser_id'>>>;
  readonly creatives: ReadonlyMap<string, Tracked<Pick<Attributes<'creatives'>, 'format' | 'trackers'>>>;
}

/** A call that is to be made once. */
export interface NewTrackerCall extends Pick<
  ServingEvent,
  'servingId' | 'workspaceId' | 'countedAt' | 'playheadMs' | 'breakPosition'
> {
  /** Names the address and the event; with the serving it is unique. */
  readonly trackerId: string;
  /** The tracking endpoint or the creative. */
  readonly ownerId: string;
  readonly urlTemplate: string;
  readonly host: string;
  readonly adType?: MacroContext['adType'];
}

/** Host and port of an address, whose host has no macro; undefined for what is no https address. */
function hostOf(template: string): string | undefined {
  const [, authority] = /^https:\/\/([^/?#]+)/i.exec(template) ?? [];
  return authority?.toLowerCase().replace(/\.(?=:|$)/, '');
}

/** Addresses of a creative have no id: the beginning of their SHA-256 names them. */
const digestOf = (template: string) => createHash('sha256').update(template).digest('hex').slice(0, 16);

/**
 * The calls that an event leads to: of the active endpoints in whose scope the serving lies, and of the trackers that stand on its creative.
 * What belongs to another workspace than the event is not called.
 */
export function trackerCallsOf(event: ServingEvent, subjects: TrackedSubjects): NewTrackerCall[] {
  const { workspaceId, servingId, countedAt, playheadMs, breakPosition } = event;
  const own = <T extends { readonly workspaceId: string }>(one: T | undefined) =>
    one?.workspaceId === workspaceId ? one : undefined;
  const campaign = own(subjects.campaigns.get(event.campaignId));
  const creative = own(subjects.creatives.get(event.creativeId));
  const common = {
    ...{ servingId, workspaceId, countedAt, playheadMs, breakPosition },
    ...(creative && { adType: creative.attributes.format }),
  };
  const call = (ownerId: string, trackerId: string, urlTemplate: string): NewTrackerCall[] => {
    const host = hostOf(urlTemplate);
    return host === undefined ? [] : [{ ...common, ownerId, trackerId, urlTemplate, host }];
  };
  const ofEndpoints = subjects.endpoints.flatMap((endpoint) => {
    const { id, attributes } = endpoint;
    const isInScope =
      attributes.creative_id === event.creativeId ||
      attributes.line_item_id === event.lineItemId ||
      attributes.campaign_id === event.campaignId ||
      (campaign !== undefined && attributes.advertiser_id === campaign.attributes.advertiser_id);
    // Before its validation nothing is called, also not later.
    const isLater = Date.parse(attributes.validated_at ?? '') <= countedAt.getTime();
    const isChosen = attributes.events.some((chosen) => chosen === event.event);
    if (own(endpoint) === undefined || !isInScope || !isLater || !isChosen) return [];
    return call(id, `${id} ${event.event}`, attributes.url_template);
  });
  const ofCreative = (creative?.attributes.trackers ?? []).flatMap(({ event: told, url_template: url }) =>
    told === event.event ? call(event.creativeId, `${event.creativeId} ${told} ${digestOf(url)}`, url) : [],
  );
  return [...ofEndpoints, ...ofCreative];
}
