export type { SamplePlay } from './sample-play.ts';
