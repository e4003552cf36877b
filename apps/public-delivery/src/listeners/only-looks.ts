import type { IncomingMessage } from 'node:http';
import { classifyUserAgent, type AudienceLists } from '@longwave/audience';
import type { Listener } from './identify-listener.ts';

/**
 * True for a request that must not use up an advertiser's goal: HEAD, prefetches, Apple's Scout, and who is never counted (bots, networks of
 * machines, pages that preload, ourselves). It gets answers without anything that is decided for it.
 */
export type OnlyLooks = (request: Pick<IncomingMessage, 'method'>, listener: Listener) => boolean;

export const createOnlyLooks =
  ({ userAgents }: Pick<AudienceLists, 'userAgents'>): OnlyLooks =>
  ({ method }, { isDryRun, addressVerdict, preload, internal, userAgent }) =>
    method === 'HEAD' ||
    isDryRun ||
    addressVerdict !== 'ok' ||
    preload ||
    internal ||
    classifyUserAgent(userAgents, userAgent) !== 'ok';
