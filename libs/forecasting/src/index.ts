export { backtest, type BacktestRow } from './backtest.ts';
export { addToBaseline } from './add-to-baseline.ts';
export { projectPlays, resamplePlays } from './compose-plays.ts';
export { explainFit } from './explain-fit.ts';
export { askAvailability, findAvailability } from './find-availability.ts';
export { findFittingQuantity } from './find-fitting-quantity.ts';
export { findMatched } from './find-matched.ts';
export { fitNetwork, fitPodcast, fitTraffic } from './fit-traffic.ts';
export {
  expectedOpportunities,
  expectedOpportunitiesOf,
  findTrafficFactors,
  forecastTraffic,
} from './forecast-traffic.ts';
export { intervalOf, type BacktestRatio, type Interval } from './interval.ts';
export type { SamplePlay } from './sample-play.ts';
export { thinSample } from './thin-sample.ts';
export {
  findWanted,
  forecastDelivery,
  makeBaseline,
  pickedOrdinal,
  simulateDelivery,
  type DeliveryBaseline,
  type DeliveryQuantiles,
  type DeliveryInputs,
} from './simulate-delivery.ts';
export type { PodcastHistory, TimeRange, TrafficInputs } from './traffic-history.ts';
export type { TrafficModel } from './traffic-model.ts';
