import { t, type MessageKey } from '../messages/messages.ts';
import { classes } from '../look/classes.ts';
import styles from './badge.module.css';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'tide' | 'dusk';

/** A state: a colour, always with its word. */
export const Badge = ({ tone = 'plain', name }: { readonly tone?: Tone; readonly name: MessageKey }) => (
  <span className={classes(styles.badge, tone !== 'plain' && styles[tone])}>{t(name)}</span>
);

/** States of podcasts and episodes. */
type ContentState = 'draft' | 'scheduled' | 'published' | 'unpublished' | 'archived';

const tones: Readonly<Record<ContentState, Tone>> = {
  draft: 'plain',
  scheduled: 'dusk',
  published: 'good',
  unpublished: 'warn',
  archived: 'plain',
};

/** The state of a podcast or an episode. */
export const StateBadge = ({ state }: { readonly state: ContentState }) => (
  <Badge tone={tones[state]} name={`state.${state}`} />
);
