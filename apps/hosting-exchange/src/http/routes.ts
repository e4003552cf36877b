import type { ExchangeRoute } from './exchange-route.ts';
import { contentRoutes } from './routes/content.ts';
import { evidenceRoutes } from './routes/evidence.ts';
import { intentRoutes } from './routes/intents.ts';
import { messageRoutes } from './routes/messages.ts';
import { proofRoutes } from './routes/proofs.ts';
import { resolutionRoutes } from './routes/resolutions.ts';

/** Every operation of the Hosting Exchange API that needs a token. */
export const exchangeRoutes: readonly ExchangeRoute[] = [
  ...messageRoutes,
  ...contentRoutes,
  ...resolutionRoutes,
  ...intentRoutes,
  ...evidenceRoutes,
  ...proofRoutes,
];
