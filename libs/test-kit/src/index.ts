export { bareEnvironment } from './bare-environment.ts';
export { createBrowser } from './browser.ts';
export { findBrowser } from './find-browser.ts';
export { ffmpeg, makeAudio, repeatAudio } from './ffmpeg.ts';
export { mailTo, readMails } from './mails.ts';
export { npxLongwave } from './npx-longwave.ts';
export { runConformance, type Checks } from './run-conformance.ts';
export { sha256 } from './sha256.ts';
export { until } from './until.ts';
