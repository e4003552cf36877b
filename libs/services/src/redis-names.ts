/** Channel on which management says that a job waits. */
export const jobsChannel = 'longwave:jobs';

/** Channel on which management names workspaces that have changed, as a JSON list of their ids. */
export const changesChannel = 'longwave:changes';

/** Key of the last progress tick of a production's encoding, and channel of all of them; or of one of its tracks of HLS. */
export const progressKeyOf = (productionId: string, track?: string): string =>
  track === undefined ? `progress:${productionId}` : `progress:${productionId}:${track}`;
