export {
  renderVast,
  type AnsweredAd,
  type AnsweredMediaFile,
  type TrackingEvent,
  type VastAnswer,
} from './render-vast.ts';
