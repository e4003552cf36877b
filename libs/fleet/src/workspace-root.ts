import path from 'node:path';

/** Absolute folder of the repository; the runner always works from its sources. */
export const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
