/** Sends commands by 25 writers until it is killed. Prints the id of each resource whose creation was answered. */
import { openTestStore } from './_store.ts';

const [url, adminUrl, workspaceId] = process.argv.slice(2) as [string, string, string];
const store = await openTestStore({ url, adminUrl });
await Promise.all(
  Array.from({ length: 25 }, async () => {
    for (;;) process.stdout.write(`${(await store.create(workspaceId)).resource.id}\n`);
  }),
);
