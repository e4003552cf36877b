/** Texts for agents, by the address of their resource. */
export const documents: readonly {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly text: string;
}[] = [
  {
    uri: 'docs:///publishing',
    name: 'publishing',
    title: 'How an episode is published',
    text: `# How an episode is published

1. create_episode makes a draft. Nothing is public.
2. create_upload answers with an address. PUT the bytes of the audio there, outside of this protocol. A file above 30 MB may be sent in
   parts; keep the ETag of each answer.
3. complete_upload joins the parts and keeps the bytes.
4. create_production names the episode and the file; control_production starts the encoding. Ask get_operation until it has succeeded.
5. publish_episode with mode "now" answers with a preview and a confirm_token. Show the preview to the person. Call again with the same
   arguments and the token when they agree. With mode "schedule" and publish_at the episode is published at that time.

The podcast itself must be published too: its feed is public only then. get_podcast with include "feed" checks it as directories do.
`,
  },
  {
    uri: 'docs:///limits',
    name: 'limits',
    title: 'Limits',
    text: `# Limits

- Requests per minute: by the plan, see get_account. Above it the answer is 429 with Retry-After.
- A body has at most 2 MiB, a transcript at most 1,000,000 characters, show notes at most 100,000 bytes, a file at most 20 GB.
- Encoding time per month: by the plan, see get_account. Without any left, an encoding does not start (encoding_time_exhausted).
- Analytics reach back as far as the plan's history; a longer range is cut and \`meta.history_window\` says so.
- A confirm_token is good for ten minutes, for one call with the same arguments.
- A list has at most 100 items a page; next_cursor leads to the next one.
`,
  },
];
