import { z } from 'zod';

/** A request that a person can choose in a client. It names objects by ID; their texts come from tools. */
export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly args: z.ZodObject;
  readonly text: (args: never) => string;
}

const definePrompt = <A extends z.ZodObject>(
  prompt: Omit<Prompt, 'args' | 'text'> & { readonly args: A; readonly text: (args: z.output<A>) => string },
): Prompt => prompt;

const id = (prefix: string, noun: string) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9a-z]{26}$`), `This is not an ID of the form ${prefix}_….`)
    .describe(`ID of the ${noun}, ${prefix}_….`);
const short = z
  .string()
  .max(200)
  .regex(/^[^\r\n]*$/, 'Use one line.');

/** Every prompt, in the order in which clients list them. */
export const prompts: readonly Prompt[] = [
  definePrompt({
    name: 'launch_episode',
    title: 'Launch an episode',
    description: 'Checks that an episode is ready, and publishes it after you agree.',
    args: z.object({ episode_id: id('ep', 'episode') }),
    text: ({ episode_id }) =>
      `Help me launch the episode ${episode_id}. Read it with get_episode (include media, chapters, transcript and production) and its podcast with get_podcast. List what is missing or weak: audio, title, notes, season and number, chapters, transcript. Propose improvements and apply them with update_episode only when I agree. Then call publish_episode, show me its preview, and publish only after I say so.`,
  }),
  definePrompt({
    name: 'write_show_notes',
    title: 'Write show notes',
    description: 'Drafts show notes of an episode from its transcript and chapters.',
    args: z.object({ episode_id: id('ep', 'episode'), tone: short.optional().describe('For example “friendly”.') }),
    text: ({ episode_id, tone }) =>
      `Write show notes for the episode ${episode_id}${tone === undefined ? '' : ` in this tone: ${tone}`}. Read it with get_episode (include chapters and transcript) and, if it has a transcript, the resource episode:///${episode_id}/transcript. Use only what is said there. Show me a summary of at most 300 characters and the notes, and save them with update_episode only when I agree.`,
  }),
  definePrompt({
    name: 'monthly_review',
    title: 'Review a month',
    description: 'Sums up a month of a podcast: growth, episodes, countries, apps.',
    args: z.object({
      podcast_id: id('pod', 'podcast'),
      month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'Write a month such as 2026-10.'),
    }),
    text: ({ podcast_id, month }) =>
      `Review the month ${month} of the podcast ${podcast_id}. Use get_podcast_analytics for the whole month with each breakdown, and for the month before to compare. Say what grew or fell and by how much, which episodes and countries mattered, and what I could try next. If \`meta.history_window\` or \`meta.incomplete_from\` is there, say what the numbers lack.`,
  }),
  definePrompt({
    name: 'fix_feed_problems',
    title: 'Fix the feed',
    description: 'Checks the live feed as directories do, and repairs what can be repaired.',
    args: z.object({ podcast_id: id('pod', 'podcast') }),
    text: ({ podcast_id }) =>
      `Check the feed of the podcast ${podcast_id}: call get_podcast with include "feed". Explain each finding in plain words, errors first, and say how to repair it. Repair with update_podcast or update_episode only when I agree, then check again.`,
  }),
  definePrompt({
    name: 'sponsor_summary',
    title: 'Sum up for a sponsor',
    description: 'Writes a page about the audience of a podcast that a sponsor can read.',
    args: z.object({ podcast_id: id('pod', 'podcast'), period: short.describe('For example “the last 90 days”.') }),
    text: ({ podcast_id, period }) =>
      `Write one page about the audience of the podcast ${podcast_id} in this period: ${period}. Use get_podcast_overview and get_podcast_analytics (total, episodes, countries, apps). State the period, the counting window and \`methodology_version\` from \`meta\`, and mark provisional numbers. Give no number that the tools did not give.`,
  }),
];
