/** The published limits of rule 16 (docs/counting.md#rule-16): a day with more downloads than people make is held. */
export const velocityLimits = {
  /** Distinct episodes of one podcast, per listener key. */
  podcastEpisodes: 50,
  /** Distinct episodes of all podcasts, per listener key. */
  episodes: 500,
  /** Downloads per address that the safe list does not hold. */
  addressDownloads: 2_000,
} as const;

export type VelocityLimits = { readonly [limit in keyof typeof velocityLimits]: number };

/** Why a download is held until a person decides: its listener, or its address, had too many that day. */
export type HeldReason = 'velocity_listener' | 'velocity_address';

/** Whether a listener key's day is above a limit. It has one download an episode and day, so downloads are distinct episodes. */
export function isListenerInfeasible(downloadsOfPodcasts: Iterable<number>, limits: VelocityLimits): boolean {
  let all = 0;
  for (const downloads of downloadsOfPodcasts) {
    if (downloads > limits.podcastEpisodes) return true;
    all += downloads;
  }
  return all > limits.episodes;
}

/** Whether an address's day is above the limit. */
export function isAddressInfeasible(downloads: number, limits: VelocityLimits): boolean {
  return downloads > limits.addressDownloads;
}

/** The fields that rule 16 needs of a session that reached the threshold. */
export interface VelocitySession {
  readonly listenerKey: string;
  readonly podcastId: string;
  /** `YYYY-MM-DD`. */
  readonly windowOn: string;
  readonly addressKey: string;
  readonly addressSafe: boolean;
}

/** Names a key and a UTC day. */
export const keyDay = (kind: 'listener' | 'address', key: string, day: string) => `${kind} ${key} ${day}`;

/**
 * Finds the days of keys that rule 16 holds: the answer depends on the set of sessions alone. Sessions of a safe address neither count towards its limit
 * nor are held by it.
 * @param released keys and days, by `keyDay`, that a person has released
 * @returns why a listener's downloads of a day are held, if they are
 */
export function findVelocityHolds(
  sessions: readonly VelocitySession[],
  limits: VelocityLimits,
  released: ReadonlySet<string>,
): (one: Omit<VelocitySession, 'podcastId'>) => HeldReason | undefined {
  const held = new Set<string>();
  for (const [name, own] of Map.groupBy(sessions, (one) => keyDay('listener', one.listenerKey, one.windowOn))) {
    const ofPodcasts = Map.groupBy(own, (one) => one.podcastId).values();
    if (
      isListenerInfeasible(
        [...ofPodcasts].map((some) => some.length),
        limits,
      )
    )
      held.add(name);
  }
  const unsafe = sessions.filter((one) => !one.addressSafe);
  for (const [name, own] of Map.groupBy(unsafe, (one) => keyDay('address', one.addressKey, one.windowOn)))
    if (isAddressInfeasible(own.length, limits)) held.add(name);
  const holds = (name: string) => held.has(name) && !released.has(name);
  return ({ listenerKey, addressKey, addressSafe, windowOn }) => {
    if (holds(keyDay('listener', listenerKey, windowOn))) return 'velocity_listener';
    return !addressSafe && holds(keyDay('address', addressKey, windowOn)) ? 'velocity_address' : undefined;
  };
}
