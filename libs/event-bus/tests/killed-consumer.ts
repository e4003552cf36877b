/**
 * A consumer that a test kills: hands its batch over message by message, prints `handling <id> <attempt>` for each, and never
 * finishes the message whose id is the last argument. Arguments: bus configuration as JSON, topic, group, retry attempts, id.
 */
import { createEventBus } from '../src/index.ts';

const [config = '', topic = '', group = '', attempts = '', stopAt = ''] = process.argv.slice(2);
const bus = await createEventBus(JSON.parse(config));
await bus.subscribe({
  topic,
  group,
  retry: { attempts: Number(attempts), initialDelayMs: 10, maxDelayMs: 10 },
  handle: async (messages) => {
    for (const { id, attempt } of messages) {
      process.stdout.write(`handling ${id} ${attempt}\n`);
      if (id === stopAt) await new Promise(() => {});
    }
  },
});
