import { createDuration, observeGauge } from '@longwave/service-kit';
import type { EventBus } from './port.ts';
import { countDeadLetters } from './report-dead-letter.ts';

/** The same bus, whose subscriptions are measured: `longwave.follower.lag`, `.delay` and `.dead_letters`. */
export function measureFollowers(bus: EventBus): EventBus {
  const delay = createDuration(
    'longwave.follower.delay',
    'Time from the publication of a message to its end in a group',
  );
  return {
    ...bus,
    async subscribe(options) {
      const { topic, group, handle } = options;
      const labels = { topic, group };
      const subscription = await bus.subscribe({
        ...options,
        handle: async (messages) => {
          await handle(messages);
          // The first one has waited longest; one record per batch is enough.
          const first = messages[0];
          if (first) delay.record(Math.max(0, Date.now() - first.publishedAt.getTime()) / 1_000, labels);
        },
      });
      countDeadLetters(0, topic, group);
      const observing = observeGauge(
        'longwave.follower.lag',
        { unit: '{message}', description: 'Messages that a group has not finished' },
        async () => [{ value: await bus.countWaiting(topic, group), labels }],
      );
      const close = () => {
        observing[Symbol.dispose]();
        return subscription.close();
      };
      return { close, [Symbol.asyncDispose]: close };
    },
  };
}
