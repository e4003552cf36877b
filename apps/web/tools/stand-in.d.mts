import type { Server } from 'node:http';

/** Serves the built pages with the answers of tests/answers.json, on a port of this machine; 0 takes a free one. */
export function startStandIn(port: number): Promise<Server>;
