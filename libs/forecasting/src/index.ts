export { backtest, type BacktestInputs, type BacktestRow } from './backtest.ts';
export {
  projectPlays,
  resamplePlays,
  type EqualPlays,
  type SimulatedPlay,
  type TrafficFactors,
} from './compose-plays.ts';
export { findAvailability, type Availability, type AvailabilityInputs } from './find-availability.ts';
export { findMatched, type Matched, type MatchOptions } from './find-matched.ts';
export { fitNetwork, fitPodcast, fitTraffic } from './fit-traffic.ts';
export {
  expectedOpportunities,
  expectedOpportunitiesOf,
  findTrafficFactors,
  forecastTraffic,
  type TrafficForecast,
} from './forecast-traffic.ts';
export { intervalOf, type BacktestRatio, type Horizon, type Interval, type VolumeClass } from './interval.ts';
export type { SamplePlay } from './sample-play.ts';
export {
  forecastDelivery,
  simulateDelivery,
  type DeliveryBaseline,
  type DeliveryInputs,
  type DeliveryQuantiles,
  type DeliverySimulation,
  type LineDelivery,
} from './simulate-delivery.ts';
export type {
  EpisodeHistory,
  HourCount,
  PodcastHistory,
  TimeRange,
  TrafficInputs,
  TrafficModifier,
} from './traffic-history.ts';
export type { Cadence, Decay, ExpectedEpisode, NetworkCurves, PodcastCurves, TrafficModel } from './traffic-model.ts';
