import type { NetworkCurves, PodcastCurves, TrafficModel } from './traffic-model.ts';
import type { PodcastHistory, TrafficInputs } from './traffic-history.ts';

/** The curves that podcasts have in common. */
export function fitNetwork(_inputs: TrafficInputs): NetworkCurves {
  throw new Error('not written yet');
}

/** The curves of one podcast, as of `nowMs`. */
export function fitPodcast(
  _history: PodcastHistory,
  _network: NetworkCurves,
  _asOf: Pick<TrafficInputs, 'nowMs' | 'timeZone'>,
): PodcastCurves {
  throw new Error('not written yet');
}

/** The curves of all podcasts, as of `nowMs`. */
export function fitTraffic(_inputs: TrafficInputs): TrafficModel {
  throw new Error('not written yet');
}
