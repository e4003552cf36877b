import { Badge, type Tone } from '../../parts/badge.tsx';
import type { MessageKey } from '../../messages/messages.ts';

const tones: Readonly<Record<string, Tone>> = {
  ...{
    active: 'good',
    approved: 'good',
    delivering: 'good',
    delivery_extended: 'good',
    published: 'good',
    ready: 'tide',
  },
  ...{
    booked: 'tide',
    reserved: 'tide',
    accepted: 'tide',
    issued: 'tide',
    matching: 'tide',
    running: 'tide',
    scheduled: 'dusk',
    completed: 'dusk',
    closed: 'good',
    settled: 'good',
    fulfilled: 'dusk',
  },
  ...{
    paused: 'warn',
    suspended: 'warn',
    pending_review: 'warn',
    open: 'warn',
    changes_requested: 'warn',
    disabled: 'warn',
    review: 'warn',
    disputed: 'warn',
  },
  ...{
    failed: 'bad',
    processing_failed: 'bad',
    rejected: 'bad',
    declined: 'bad',
    voided: 'bad',
    stopped: 'bad',
    reservation_expired: 'bad',
  },
};

/** The lifecycle state of a resource. */
export const LifecycleBadge = ({ type, state }: { readonly type: string; readonly state: string }) => (
  // A halt that is active is what nobody wishes.
  <Badge
    tone={type === 'serving_halts' && state === 'active' ? 'bad' : (tones[state] ?? 'plain')}
    name={`lifecycle.${state}` as MessageKey}
  />
);
