import { appleAccess, type AppleSettings } from './apple-podcasts.ts';
import type { Platforms } from './platform.ts';

/** All platforms, each with the access that this installation has to it. */
export const platformsFromConfig = (config: AppleSettings): Platforms => ({ apple_podcasts: appleAccess(config) });
