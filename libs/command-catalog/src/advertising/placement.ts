import { z } from 'zod';

/** The position of a break in an episode. */
export const adPosition = z.enum(['pre', 'mid', 'post']);

/** How an ad is made. */
export const production = z.enum(['host_read', 'producer_read', 'produced']);

/** The billed events: decisions, bytes sent, ads delivered (docs/counting.md), or a client's reports. */
export const countingBasis = z.enum(['reserved', 'served_bytes', 'ad_delivered', 'client_event']);
