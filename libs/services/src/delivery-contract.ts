/** What Public Delivery can do on one surface. */
interface SurfaceCapability {
  /** As break plans, halts and decisions name it. */
  readonly name: string;
  /** Only a current one takes new plans. */
  readonly status: 'current' | 'deprecated' | 'removed';
  readonly media: readonly ('audio' | 'video')[];
  /**
   * The methods by which reports about its ads are accepted, at one address: a player uses either
   * (docs/services/public-delivery.md#delivery-events-and-clicks).
   */
  readonly events: readonly ('GET' | 'POST')[];
  /** Grows with every change of this entry. */
  readonly version: number;
}

/** The contract of the Public Delivery API, as `GET /delivery/v1/contract` answers it. */
export interface DeliveryContract {
  readonly name: string;
  readonly version: string;
  readonly status: 'current' | 'deprecated' | 'removed';
  readonly deprecations: readonly string[];
  readonly surfaces: readonly SurfaceCapability[];
}

/** A surface that is added gets an entry here once Public Delivery serves it. */
export const deliveryContract: DeliveryContract = {
  name: 'Public Delivery API',
  version: '1.3.1',
  status: 'current',
  deprecations: [],
  surfaces: [
    { name: 'progressive', status: 'current', media: ['audio'], events: ['GET', 'POST'], version: 2 },
    { name: 'hls', status: 'current', media: ['audio', 'video'], events: ['GET', 'POST'], version: 3 },
    { name: 'vast', status: 'current', media: ['audio', 'video'], events: ['GET', 'POST'], version: 3 },
  ],
};

/** Whether a surface takes something new of such media: it, the medium on it and the contract are current. */
export const isCurrent = (
  { status, surfaces }: DeliveryContract,
  surface: string,
  medium: SurfaceCapability['media'][number],
): boolean =>
  status === 'current' &&
  surfaces.some((each) => each.name === surface && each.status === 'current' && each.media.includes(medium));
