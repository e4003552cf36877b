export { chooseMediaFile } from './choose-media-file.ts';
export { httpsUrlFault, inboundUrlFault } from './https-url.ts';
export { fillMacros, type MacroContext } from './macros.ts';
export { maxVastBytes, parseVast } from './parse-vast.ts';
export { renderVast, type AnsweredAd, type TrackingEvent, type VastAnswer } from './render-vast.ts';
export { parseTrackingTemplate } from './tracking-template.ts';
export type { InlineAd, MediaFile, RefusedAd, Tracker, VastDocument, VastErrorCode } from './vast-document.ts';
export {
  beginWalk,
  maxWrappers,
  walkWrappers,
  type Unanswered,
  type WalkStep,
  type WrapperWalk,
} from './walk-wrappers.ts';
