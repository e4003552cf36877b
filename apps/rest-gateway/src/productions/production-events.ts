import type { ServerResponse } from 'node:http';
import type { Resource } from '@longwave/command-catalog';
import type { ProgressTick } from '@longwave/events';
import type { Caller } from '@longwave/hosting-client';
import { Problem } from '@longwave/problems';
import { sleep } from '@longwave/worker-kit';
import { RestFailure } from '../http/rest-failure.ts';
import type { Deps, ObjectCall } from '../route.ts';

/** How often the state is read while it may change. */
const readEveryMs = 1_000;
/** A comment keeps idle connections open through proxies. */
const beatEveryMs = 15_000;
/** A stream then ends cleanly, and EventSource opens it again (HTML standard §9.2.3). */
const streamLifeMs = 15 * 60_000;
/** How long one read of the state may take. */
const readDeadlineMs = 5_000;
/** A statement lives a minute; the credential is checked again well before. */
const reauthenticateEveryMs = 30_000;

const isFinal = ({ lifecycle_state: state }: Resource<'productions'>) => state === 'encoded' || state === 'error';

const isOutage = (error: unknown) => error instanceof Problem && error.status >= 500;

/**
 * Server-sent events of one production (HTML standard §9.2): `state` at the start and at every change, `progress` for
 * every change. Progress falls when another try of the encoder begins. Ends after `encoded` or `error`, after a quarter of an
 * hour, when the caller loses access, or when the client goes.
 */
export const productionEvents =
  ({ object, caller: first, reauthenticate }: ObjectCall<unknown, unknown, 'productions'>, deps: Deps) =>
  async (response: ServerResponse, signal: AbortSignal): Promise<void> => {
    let production = object;
    let caller: Caller = first;
    let now = deps.clock().getTime();
    const startedAt = now;
    let checkedAt = now;
    let sentAt = now;
    let shownState = '';
    let shownProgress: number | undefined;

    const send = (event: string, data: object) => {
      sentAt = deps.clock().getTime();
      response.write(`event: ${event}\ndata: ${JSON.stringify({ production_id: production.id, ...data })}\n\n`);
    };
    const showState = () => {
      if (production.lifecycle_state === shownState) return;
      shownState = production.lifecycle_state;
      send('state', {
        state: shownState,
        ...(shownState === 'error' && { problem: production.attributes.problem }),
      });
    };
    const showProgress = ({ progress, stage }: ProgressTick) => {
      if (progress === shownProgress) return;
      shownProgress = progress;
      send('progress', { progress, stage });
    };
    const readState = async () => {
      now = deps.clock().getTime();
      if (now - checkedAt >= reauthenticateEveryMs) {
        caller = await reauthenticate();
        checkedAt = now;
      }
      const asker = { ...caller, deadline: new Date(Date.now() + readDeadlineMs) };
      ({ resource: production } = await deps.management.find(asker, 'productions', production.id));
    };

    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    const unfollow = deps.progress.follow(production.id, showProgress);
    try {
      showState();
      const last = production.lifecycle_state === 'encoding' ? await deps.progress.last(production.id) : undefined;
      // A tick that came meanwhile is newer.
      if (last && shownProgress === undefined) showProgress(last);
      while (!isFinal(production) && !signal.aborted && now - startedAt < streamLifeMs) {
        await sleep(readEveryMs, signal);
        if (signal.aborted) break;
        await readState().catch((error: unknown) => {
          if (!isOutage(error)) throw error;
        });
        showState();
        if (deps.clock().getTime() - sentAt >= beatEveryMs) {
          sentAt = deps.clock().getTime();
          response.write(': still here\n\n');
        }
      }
    } catch (error) {
      if (!(error instanceof Problem || error instanceof RestFailure)) throw error;
    } finally {
      unfollow();
      response.end();
    }
  };
