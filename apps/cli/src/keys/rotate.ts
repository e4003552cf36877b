import {
  countAccepted,
  countUses,
  dropFormerKeys,
  keyKinds,
  lockKeys,
  planFinish,
  recordOf,
  recordRotation,
  rotateKey,
  rowOf,
  saveRecord,
  usedFrom,
  type Installation,
  type KeyKind,
  type KeyName,
  type KeyRow,
} from '@longwave/fleet';
import { typed } from '../command.ts';

interface Done {
  readonly row: KeyRow;
  /** In words. */
  readonly text: string;
}

const dayOf = (iso: string) => iso.slice(0, 16).replace('T', ' ');

/** The steps that follow a rotation, and their times. */
function nextStep(name: KeyName, kind: KeyKind, { finish_from: from }: KeyRow): string {
  if (name === 'ca') return `Next: ${typed} keys rotate certificates, then ${typed} keys rotate ca --finish.`;
  if (kind.former.stays === 'never') return 'The one before is gone. Nothing else is to be done.';
  const when = from === undefined ? 'When nothing needs the one before' : `From ${dayOf(from)} UTC on`;
  return `The one before stays: ${kind.former.because}.\n${when}: ${typed} keys rotate ${name} --finish`;
}

/** A service that runs reads its new authority within this time. */
const authorityNoticedMs = 60_000;

/** New certificates are signed by the newest authority, so every service must know it before. */
function assertAuthorityKnown({ data, access }: Installation, now: Date): void {
  const { made_at: madeAt, replaced_at: replaced } = recordOf(data.secrets, 'ca');
  if (!access || replaced.length === 0 || madeAt === undefined) return;
  const knownAt = new Date(Date.parse(madeAt) + authorityNoticedMs);
  if (knownAt > now)
    throw new Error(
      `Services read the new authority within a minute: rotate the certificates from ${knownAt.toISOString()} on.`,
    );
}

/** Replaces a key; see `lockKeys`. */
export async function rotate(name: KeyName, installation: Installation): Promise<Done> {
  const { data } = installation;
  const { secrets } = data;
  const kind: KeyKind = keyKinds[name];
  const now = new Date();
  if (name === 'certificates') assertAuthorityKnown(installation, now);
  await rotateKey(name, installation, now);
  saveRecord(secrets, name, recordRotation(kind, recordOf(secrets, name), now));
  const row = rowOf(data, name);
  const used = kind.beginsNextMonth
    ? `It is used from ${usedFrom(kind, now).toISOString()} on.`
    : 'It is used from now on.';
  return { row, text: `${name}: made a new one (${kind.purpose}). ${used}\n${nextStep(name, kind, row)}` };
}

/** Ends the keys that were replaced. Throws in words while one of them must stay. */
export async function finish(name: KeyName, installation: Installation, isForced: boolean): Promise<Done> {
  const { data } = installation;
  const { secrets } = data;
  const record = recordOf(secrets, name);
  const accepted = countAccepted(data, name);
  const uses = isForced || accepted === 1 ? 0 : await countUses(name, installation);
  const plan = planFinish(keyKinds[name], record, { now: new Date(), accepted, uses, isForced });
  if ('refused' in plan)
    throw new Error(
      isForced || accepted === 1
        ? plan.refused
        : `${plan.refused}\nTo end it all the same, as after a leak: add --now.`,
    );
  if (plan.drop > 0) await dropFormerKeys(name, plan.drop, installation);
  saveRecord(secrets, name, { ...record, replaced_at: plan.replaced_at });
  return {
    row: rowOf(data, name),
    text: `${name}: ended ${plan.drop} former ${plan.drop === 1 ? 'one' : 'ones'} (${keyKinds[name].purpose}).`,
  };
}

/**
 * Replaces keys, or ends those that were replaced. Keys that wait for services to notice a file wait together; logins come one after the
 * other, because they share files. Throws, and changes nothing, while another rotation is under way.
 */
export async function changeKeys(
  names: readonly KeyName[],
  installation: Installation,
  change: (name: KeyName) => Promise<Done>,
): Promise<readonly Done[]> {
  using _lock = lockKeys(installation.data);
  const done = new Map<KeyName, Promise<Done>>();
  const isShared = (name: KeyName) => ['database', 'redis', 'object-store', 'certificates', 'ca'].includes(name);
  for (const name of names.filter((each) => !isShared(each))) done.set(name, change(name));
  const failures = (await Promise.allSettled(done.values())).filter((result) => result.status === 'rejected');
  if (failures[0]) throw failures[0].reason;
  for (const name of names.filter(isShared)) {
    done.set(name, change(name));
    await done.get(name);
  }
  return await Promise.all(names.map((name) => done.get(name)!));
}
