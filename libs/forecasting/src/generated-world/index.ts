export { bookedLine, bookedPlan, targetingOf } from './booked-lines.ts';
export { createDraws } from './draws.ts';
export { generateWorld } from './world.ts';
