export { bookedLine, bookedPlan, targetingOf } from './booked-lines.ts';
export { createDraws } from './draws.ts';
export { generateWorld, type World } from './world.ts';
