export { bareEnvironment } from './bare-environment.ts';
export { configurationTable } from './configuration-table.ts';
export { findBrowser } from './find-browser.ts';
export { ffmpeg, makeAudio, repeatAudio } from './ffmpeg.ts';
export { npxLongwave } from './npx-longwave.ts';
export { runConformance, type Checks } from './run-conformance.ts';
export { sha256 } from './sha256.ts';
export { until } from './until.ts';
